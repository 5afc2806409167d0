// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Commands that may fail, ask or hang: run at the same time, without a terminal, for a limited time.
#pragma once

#include <string>
#include <vector>

namespace zipmpi::tool {

struct Ran {
    int status = -1; // of exit; 127: there is no such command, -1: ended by a signal or by the time limit
    bool too_long = false;
    std::string out, err;
    double began = 0, ended = 0; // wall clock
};

std::vector<Ran> run_all(const std::vector<std::vector<std::string>>& commands, double seconds);

} // namespace zipmpi::tool
