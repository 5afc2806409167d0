// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Starting one process. The caller prepares everything that allocates or may fail; the child runs in the
// parent's memory, which waits (CLONE_VFORK), and makes system calls only.
#pragma once

#include <climits>
#include <csignal>
#include <cstddef>
#include <sched.h>
#include <string>
#include <sys/resource.h>
#include <sys/types.h>

namespace zipmpi::launch {

struct SpawnArgs {
    const char* path = nullptr;
    char* const* argv = nullptr;
    char* const* envp = nullptr;
    const char* directory = nullptr; // working directory; nullptr: that of this process
    int stdio[3] = {-1, -1, -1};
    int inherit[3] = {-1, -1, -1}; // further descriptors that the process keeps, under the same numbers
    // Above it and the descriptors above, no descriptor is inherited; those below that are not close-on-exec
    // are.
    int highest_inherited = INT_MAX;
    const cpu_set_t* cpus = nullptr;
    size_t cpu_bytes = 0;
    rlimit open_files{}; // limit to restore
    sigset_t ignored{};  // signals that this process ignores and the new one must not
};

// Signals that this process ignores; exec keeps them ignored. Costs about 64 system calls, so it is called
// once and not per child.
sigset_t ignored_signals();

// Name of the step that fails if plan.directory does not exist.
inline constexpr const char* enter_directory = "enter its directory";

// Returns the pid, or -1 with errno and the step that failed. The child leads its own process group and dies
// with its parent.
pid_t spawn(const SpawnArgs& plan, const char*& failed_step);

} // namespace zipmpi::launch
