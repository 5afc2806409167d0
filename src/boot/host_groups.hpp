// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Finds the ranks on this host by exchanging host names, for launchers without process mapping. Slow: one put
// and one fence per rank, then size-1 gets.
#pragma once

#include "boot/job.hpp"

namespace zipmpi::boot {

// Fills job.node_ranks from job.rank, job.size and job.launcher.
bool group_by_host(Job& job, Diagnostic& why);
// Host name of a rank as exchanged by group_by_host(). Returns false if there was no exchange.
bool host_of(const Job& job, int rank, std::string& name);

} // namespace zipmpi::boot
