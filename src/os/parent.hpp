// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Ties the life of a child process to its parent.
#pragma once

#include <csignal>
#include <sys/prctl.h>
#include <unistd.h>

namespace zipmpi::os {

// Called in a new child: the child is killed when `parent` ends, also if it has already ended. Safe after
// vfork.
inline void die_with_parent(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
}

} // namespace zipmpi::os
