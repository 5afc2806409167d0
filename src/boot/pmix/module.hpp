// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Interface of the module zipmpi_pmix_client.so. libpmix starts threads, creates files and takes tens of
// milliseconds, so only processes started by a PMIx launcher load it.
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

// The only function of the module; its name changes with this interface. Null and `why` on failure. The
// server must reply to the first message within limit_seconds.
using PmixOpen = Launcher* (*)(int limit_seconds, PmixIdentity& me, std::string& why);
inline constexpr const char* pmix_open_symbol = "zipmpi_pmix_open_2";
inline constexpr const char* pmix_module_file = "zipmpi_pmix_client.so";

} // namespace zipmpi::boot
