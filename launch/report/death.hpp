// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What mpiexec says about a rank that ended badly: pure functions.
#pragma once

#include "base/problem.hpp"
#include "launch/report/snapshot.hpp"

#include <string>
#include <string_view>
#include <sys/types.h>

namespace zipmpi::launch {

struct Death {
    uint32_t rank = 0, world_size = 1;
    uint32_t others_alive = 0; // ranks that still ran and were ended
    bool others_go_on = false; // they were not
    std::string host, program;
    pid_t pid = -1;
    int wait_status = 0; // as waitpid gives it
    RankPlace place;
    std::string last_call; // entered last, whether over or not
};

Problem describe(const Death& d);
Problem describe_abort(const Death& d, int code, std::string_view text);

// "killed by SIGSEGV", "exited with status 3"
std::string ending_text(int wait_status);
std::string signal_name(int signal);

} // namespace zipmpi::launch
