// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What communicators know of failed members. News come through the lane (proto/p2p/faults.hpp).
#pragma once

#include "core/comm/comm.hpp"

namespace zipmpi::core {

struct Engine;

// From now on communicators are told of faults.
void listen_for_faults(Engine& e);
// A communicator that has just been made may have members that are known to have failed.
void look_for_faults(Comm& comm);
// It is gone, and its context may be another's soon. False: the context was revoked and is not used again.
bool forget_faults(const Comm& comm);

// Of both groups, as ranks of the job.
std::vector<int> all_members(const Comm& comm);
void add_members(const proto::Team& team, std::vector<int>& ranks);

// This job has a launcher that knows more than how to start ranks.
bool launcher_helps();

// The launcher tells all ranks of the job that the communicator with this context is revoked. False: it
// cannot.
bool tell_of_revocation(uint32_t key);

// A process of another job counts as failed from now on, and is not heard any more.
void lose_foreign(int world_rank);

// Waits until all members that live have called it.
Err meet_the_living(Comm& comm);

} // namespace zipmpi::core
