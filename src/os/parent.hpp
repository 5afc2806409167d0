// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Children that do not outlive their parent.
#pragma once

#include <csignal>
#include <sys/prctl.h>
#include <unistd.h>

namespace zipmpi::os {

// In a new child: it is killed when `parent` ends, also if that has happened already. May be called after
// vfork.
inline void die_with_parent(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
}

} // namespace zipmpi::os
