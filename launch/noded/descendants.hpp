// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Getting rid of processes. The caller is a subreaper: whatever its children leave behind becomes its child,
// so killing and reaping until there are no children left leaves nothing alive.
#pragma once

#include <sys/types.h>
#include <vector>

namespace zipmpi::launch {

// Children of this process and theirs, as they are now, without those children in `except` and what is below
// them.
std::vector<pid_t> descendants(const std::vector<pid_t>& except = {});

// The same for another process.
std::vector<pid_t> descendants_of(pid_t root, const std::vector<pid_t>& except = {});

// Sends the signal to all descendants, and to the process groups that these pids lead.
void signal_descendants(int signal, const std::vector<pid_t>& group_leaders,
                        const std::vector<pid_t>& except = {});

} // namespace zipmpi::launch
