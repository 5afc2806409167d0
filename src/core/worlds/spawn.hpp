// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Starting other programs: a job of its own, under an mpiexec that the root starts, whose ranks find the way
// back through a port.
#pragma once

#include "base/err.hpp"
#include "core/info/info.hpp"

#include <string>
#include <vector>

namespace zipmpi::core {

// Some processes of one program.
struct Crew {
    std::string program;
    std::vector<std::string> arguments;
    int64_t processes = 0;
    Hints hints;
};

// The command line of mpiexec for these crews. Programs are looked for in the `path` of the hints. folder:
// where to start it; empty: here.
Err command_for(const std::vector<Crew>& crews, const std::string& mpiexec, std::vector<std::string>& words,
                std::string& folder);

} // namespace zipmpi::core
