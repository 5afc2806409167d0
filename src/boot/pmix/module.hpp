// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The border between the library and the module zipmpi_pmix_client.so. libpmix brings threads, files and
// tens of milliseconds; only a process that was started by a PMIx launcher loads it.
#pragma once

#include "boot/job.hpp"

#include <string>
#include <vector>

namespace zipmpi::boot {

struct PmixIdentity {
    std::string job_id;
    int rank = 0;
    int size = 1;
    int app_number = -1;
    int universe_size = -1;
    std::vector<int> node_ranks;
};

// The one function of the module; its name changes when this border changes. Null and `why` on failure.
// The server must answer the first message within limit_seconds.
using PmixOpen = Launcher* (*)(int limit_seconds, PmixIdentity& me, std::string& why);
inline constexpr const char* pmix_open_symbol = "zipmpi_pmix_open_2";
inline constexpr const char* pmix_module_file = "zipmpi_pmix_client.so";

} // namespace zipmpi::boot
