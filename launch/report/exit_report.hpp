// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The report of mpiexec about a rank that ended abnormally: pure functions.
#pragma once

#include "base/diagnostic.hpp"
#include "launch/report/snapshot.hpp"

#include <string>
#include <string_view>
#include <sys/types.h>

namespace zipmpi::launch {

struct RankExit {
    uint32_t rank = 0, world_size = 1;
    uint32_t others_alive = 0;    // running ranks that were terminated
    bool others_continue = false; // the other ranks were not terminated
    std::string host, program;
    pid_t pid = -1;
    int wait_status = 0; // as returned by waitpid
    RankSnapshot snapshot;
    std::string last_call; // most recent MPI call, completed or not
};

Diagnostic describe(const RankExit& d);
Diagnostic describe_abort(const RankExit& d, int code, std::string_view text);

// "killed by SIGSEGV", "exited with status 3"
std::string exit_text(int wait_status);
std::string signal_name(int signal);

} // namespace zipmpi::launch
