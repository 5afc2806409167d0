// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What all processes that the daemon starts have in common.
#pragma once

#include <climits>
#include <csignal>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace zipmpi::launch {

struct SpawnDefaults {
    std::vector<std::vector<std::string>> app_env; // per program
    rlimit open_files{};                           // limit to restore
    sigset_t ignored_signals{};                    // see SpawnArgs::ignored
    int highest_inherited = INT_MAX;               // see SpawnArgs
};

} // namespace zipmpi::launch
