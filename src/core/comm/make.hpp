// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the ways to make a communicator share.
#pragma once

#include "core/comm/comm.hpp"
#include "core/group/members.hpp"

namespace zipmpi::core {

[[gnu::cold]] Err no_comm(); // memory is exhausted
[[gnu::cold]] Err not_inter(const Comm& comm);
[[gnu::cold]] Err not_intra(const Comm& comm);

// Of hints given for a communicator those that it knows; others are ignored.
Hints understood(const Hints& hints);

// The team of these processes, of which this one is number `rank`.
proto::Team make_team(const Members& members, int rank, uint32_t context);

// The two groups of an intercommunicator agree on contexts: a local one for each group and one across, which
// the leader with the lower rank in the job draws.
struct InterContexts {
    uint32_t across = 0;
    uint32_t local = 0;
};
InterContexts draw_inter_contexts(int own_leader, int other_leader, int own_size, int other_size);

Members members_of(const proto::Team& team);
inline Members own_members(const Comm& comm) { return members_of(comm.own_team()); }

} // namespace zipmpi::core
