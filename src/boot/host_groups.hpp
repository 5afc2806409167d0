// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Who is on this host, asked of the ranks themselves. The slow path, for launchers that give no process
// mapping: one put and one fence per rank, then size-1 gets.
#pragma once

#include "boot/job.hpp"

namespace zipmpi::boot {

// Fills job.node_ranks from job.rank, job.size and job.launcher.
bool group_by_host(Job& job, Problem& why);
// The name by which group_by_host() knows the host of a rank. False: it has not been exchanged.
bool host_of(const Job& job, int rank, std::string& name);

} // namespace zipmpi::boot
