// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Commands that may fail, prompt or hang: run concurrently, without a terminal, with a time limit.
#pragma once

#include <string>
#include <vector>

namespace zipmpi::tool {

struct CommandResult {
    int status = -1; // exit status; 127: no such command, -1: ended by a signal or by the time limit
    bool timed_out = false;
    std::string out, err;
    double start_time = 0, end_time = 0; // wall clock
};

std::vector<CommandResult> run_all(const std::vector<std::vector<std::string>>& commands, double seconds);

} // namespace zipmpi::tool
