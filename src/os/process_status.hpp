// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// State and parent of another process, from /proc.
#pragma once

#include <sys/types.h>

namespace zipmpi::os {

struct ProcessStatus {
    char state = 0;   // R, S, T (stopped), t (stopped by a debugger), ...; 0: it has ended
    pid_t parent = 0; // 0: unknown
};
ProcessStatus process_status(pid_t pid);

// Whether `ancestor` is the process, its parent, or an older ancestor.
bool descends_from(pid_t pid, pid_t ancestor);

} // namespace zipmpi::os
