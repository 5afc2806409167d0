// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Failed members of communicators. Fault notifications arrive through the progress engine
// (proto/p2p/fault_table.hpp).
#pragma once

#include "core/comm/comm.hpp"

namespace zipmpi::core {

struct Runtime;

// Starts delivering fault notifications to communicators.
void enable_fault_notification(Runtime& e);
// Adds members of a new communicator that are already known to have failed.
void update_comm_faults(Comm& comm);
// Called when a communicator is destroyed and its context may be reused. Returns false if the context was
// revoked and must not be reused.
bool clear_comm_faults(const Comm& comm);

// World ranks of the members of both groups.
std::vector<int> all_members(const Comm& comm);
void add_members(const proto::Team& team, std::vector<int>& ranks);

// True if the job runs under ZipMPI's own launcher, which distributes faults.
bool has_native_launcher();

// Asks the launcher to distribute the revocation of the communicator with this context. Returns false if it
// cannot.
bool notify_revocation(uint32_t key);

// Marks an external process as failed; its messages are ignored from now on.
void mark_external_failed(int world_rank);

// Waits until all live members have called it.
Err fault_tolerant_barrier(Comm& comm);

} // namespace zipmpi::core
