// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Starting one process. Everything that may allocate or fail in an interesting way is prepared by the caller;
// the child runs in the parent's memory (vfork) and makes system calls only.
#pragma once

#include <csignal>
#include <cstddef>
#include <sched.h>
#include <string>
#include <sys/resource.h>
#include <sys/types.h>

namespace zipmpi::launch {

struct SpawnPlan {
    const char* path = nullptr;
    char* const* argv = nullptr;
    char* const* envp = nullptr;
    const char* directory = nullptr; // where it starts; nullptr: where this process is
    int stdio[3] = {-1, -1, -1};
    int inherit[2] = {-1, -1}; // further descriptors that the process keeps, under the same numbers
    const cpu_set_t* cpus = nullptr;
    size_t cpu_bytes = 0;
    rlimit open_files{}; // the limit to go back to
    sigset_t ignored{};  // signals that this process ignores and the new one must not
};

// Signals that this process ignores. Handlers end with exec, but what is ignored stays ignored. Some 64
// system calls, so it is asked once and not for each child.
sigset_t ignored_signals();

// The step that fails if plan.directory does not exist.
inline constexpr const char* enter_directory = "enter its directory";

// The pid, or -1 with errno and the step that failed. The child is leader of a process group of its own and
// dies with its parent.
pid_t spawn(const SpawnPlan& plan, const char*& failed_step);

} // namespace zipmpi::launch
