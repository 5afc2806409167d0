// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Finding and killing descendants. The caller is a subreaper: orphans of its children become its children, so
// killing and reaping until no child remains leaves no process behind.
#pragma once

#include <sys/types.h>
#include <vector>

namespace zipmpi::launch {

// All descendants of this process, except the children in `except` and their descendants.
std::vector<pid_t> descendants(const std::vector<pid_t>& except = {});

// All descendants of another process.
std::vector<pid_t> descendants_of(pid_t root, const std::vector<pid_t>& except = {});

// Sends the signal to all descendants, and to the process groups that these pids lead.
void signal_descendants(int signal, const std::vector<pid_t>& group_leaders,
                        const std::vector<pid_t>& except = {});

} // namespace zipmpi::launch
