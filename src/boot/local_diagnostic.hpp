// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Diagnostics of startup failures; `where` is the host, the process, and the rank if it is known.
#pragma once

#include "base/diagnostic.hpp"
#include "os/host.hpp"

#include <string>
#include <unistd.h>

namespace zipmpi::boot {

inline Diagnostic local_diagnostic(std::string what, std::string why, std::string fix) {
    return {std::move(what), "host " + os::host_name() + ", pid " + std::to_string(getpid()), std::move(why),
            std::move(fix)};
}

inline Diagnostic rank_diagnostic(int rank, int size, std::string what, std::string why, std::string fix) {
    Diagnostic p = local_diagnostic(std::move(what), std::move(why), std::move(fix));
    p.where = "rank " + std::to_string(rank) + " of " + std::to_string(size) + ", " + p.where;
    return p;
}

} // namespace zipmpi::boot
