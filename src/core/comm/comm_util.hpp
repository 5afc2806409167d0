// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Helpers shared by the functions that create communicators.
#pragma once

#include "core/comm/comm.hpp"
#include "core/group/members.hpp"

namespace zipmpi::core {

[[gnu::cold]] Err comm_alloc_error(); // out of memory
[[gnu::cold]] Err intercomm_required(const Comm& comm);
[[gnu::cold]] Err intracomm_required(const Comm& comm);

// The subset of the hints that communicators support; the others are ignored.
Hints supported_hints(const Hints& hints);

// The team of these processes, in which this process has rank `rank`.
proto::Team make_team(const Members& members, int rank, uint32_t context);

// Contexts of an intercommunicator: one local context per group, and one for messages between the groups,
// which the leader with the lower world rank allocates.
struct InterContexts {
    uint32_t across = 0;
    uint32_t local = 0;
};
InterContexts allocate_inter_contexts(int own_leader, int other_leader, int own_size, int other_size);

Members members_of(const proto::Team& team);
inline Members own_members(const Comm& comm) { return members_of(comm.own_team()); }

} // namespace zipmpi::core
