// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Problems of this folder happen before a rank knows its peers: where is the host, the process, and the rank
// as far as it is known.
#pragma once

#include "base/problem.hpp"
#include "os/host.hpp"

#include <string>
#include <unistd.h>

namespace zipmpi::boot {

inline Problem problem_here(std::string what, std::string why, std::string todo) {
    return {std::move(what), "host " + os::host_name() + ", pid " + std::to_string(getpid()), std::move(why),
            std::move(todo)};
}

inline Problem problem_of_rank(int rank, int size, std::string what, std::string why, std::string todo) {
    Problem p = problem_here(std::move(what), std::move(why), std::move(todo));
    p.where = "rank " + std::to_string(rank) + " of " + std::to_string(size) + ", " + p.where;
    return p;
}

} // namespace zipmpi::boot
