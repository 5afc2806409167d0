// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Spawning programs: the root starts an mpiexec for a new job, whose ranks connect back through a port.
#pragma once

#include "base/err.hpp"
#include "core/info/info.hpp"

#include <string>
#include <vector>

namespace zipmpi::core {

// Processes of one program.
struct AppSpec {
    std::string program;
    std::vector<std::string> arguments;
    int64_t processes = 0;
    Hints hints;
};

// The mpiexec command line for these programs. Programs are searched in the `path` hint. folder: working
// directory of mpiexec; empty: unchanged.
Err mpiexec_command(const std::vector<AppSpec>& apps, const std::string& mpiexec,
                    std::vector<std::string>& arguments, std::string& folder);

} // namespace zipmpi::core
