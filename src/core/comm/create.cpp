// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Creation of communicators from groups.
#include "core/api/comm.hpp"
#include "core/comm/comm_util.hpp"
#include "core/comm/control_channel.hpp"
#include "core/comm/split.hpp"
#include "core/group/group.hpp"
#include "core/runtime_state.hpp"
#include "wire/external_rank.hpp"

namespace zipmpi::core {
namespace {

// Ranks of the group's members in the communicator.
Err ranks_on(const Comm& comm, const Group& group, std::vector<int>& ranks) {
    const Members members = own_members(comm);
    const RankIndex index(members);
    ranks.reserve(static_cast<size_t>(group.members.size()));
    for (int r = 0; r < group.members.size(); ++r) {
        ranks.push_back(index[group.members[r]]);
        if (ranks.back() < 0)
            return fail(Err::group, "pass a group of members of the communicator",
                        "rank %d of the group is not in %s", r, name_of(comm).c_str());
    }
    return Err::success;
}

Err make_from(const Group& group, uint32_t context, Errhandler& handler, Session* session, Comm*& result) {
    if (context == 0) return context_exhausted();
    result = make_comm(make_team(group.members, group.rank, context), "", handler);
    if (result == nullptr) return comm_alloc_error();
    result->session = session;
    return Err::success;
}

// The first member allocates a context and sends it to the others, which have these ranks on the channel.
Err agree_on_context(const Group& group, const ControlChannel& channel, const std::vector<int>& ranks,
                     uint32_t& context) {
    if (group.rank == 0) context = allocate_context(group.members.size());
    return channel.broadcast(ranks, group.rank, &context, sizeof context);
}

std::vector<int> world_ranks(const Members& members) {
    std::vector<int> ranks;
    ranks.reserve(static_cast<size_t>(members.size()));
    for (int r = 0; r < members.size(); ++r) ranks.push_back(members[r]);
    return ranks;
}

Err require_member(const Group& group) {
    if (group.rank >= 0) return Err::success;
    return fail(Err::group, "call it only in members of the group", "this process is not in the group");
}

// Messages without a communicator are limited to ranks of this job.
Err require_own_job(const Group& group) {
    for (int r = 0; r < group.members.size(); ++r)
        if (wire::is_external(group.members[r]))
            return fail(Err::group, "use MPI_Comm_create_group on a communicator with all of them",
                        "member %d of the group is a process of another job", r);
    return Err::success;
}

} // namespace

// Members of one group share a color: the rank of its first member. Groups of different calls are disjoint.
Err comm_create(Comm& comm, Group& group, Comm*& result) {
    std::vector<int> ranks;
    if (const Err e = ranks_on(comm, group, ranks); e != Err::success) return e;
    const bool member = group.rank >= 0;
    const int color = !member ? undefined : comm.inter() ? 0 : ranks[0];
    return split(comm, color, group.rank, result);
}

Err comm_create_group(Comm& comm, Group& group, int tag, Comm*& result) {
    result = nullptr;
    if (comm.inter()) return intracomm_required(comm);
    if (group.rank < 0) return Err::success;
    std::vector<int> ranks;
    if (const Err e = ranks_on(comm, group, ranks); e != Err::success) return e;
    uint32_t context = 0;
    if (const Err e = agree_on_context(group, ControlChannel(comm.team, tag), ranks, context);
        e != Err::success)
        return e;
    return make_from(group, context, *comm.errhandler, comm.session, result);
}

Err comm_create_from_group(Group& group, const char* tag, Info* info, Errhandler& handler, Comm*& result) {
    result = nullptr;
    if (group.members.size() == 0) return Err::success;
    if (const Err e = require_member(group); e != Err::success) return e;
    if (const Err e = require_own_job(group); e != Err::success) return e;
    uint32_t context = 0;
    if (const Err e =
            agree_on_context(group, ControlChannel::without_comm(tag), world_ranks(group.members), context);
        e != Err::success)
        return e;
    const Err e = make_from(group, context, handler, group.session, result);
    if (e == Err::success && info != nullptr) result->hints = supported_hints(hints_of(*info));
    return e;
}

Err intercomm_create_from_groups(Group& here, int leader, Group& there, int other_leader, const char* tag,
                                 Info* info, Errhandler& handler, Comm*& result) {
    result = nullptr;
    if (here.members.size() == 0 || there.members.size() == 0) return Err::success;
    if (const Err e = require_member(here); e != Err::success) return e;
    for (const Group* const group : {&here, &there})
        if (const Err e = require_own_job(*group); e != Err::success) return e;
    if (leader < 0 || leader >= here.members.size() || other_leader < 0 ||
        other_leader >= there.members.size())
        return fail(Err::rank, "pass a rank of each group", "the leaders are %d of %d and %d of %d", leader,
                    here.members.size(), other_leader, there.members.size());
    const ControlChannel channel = ControlChannel::without_comm(tag);
    InterContexts contexts;
    if (here.rank == leader) {
        const int own_leader = here.members[leader];
        const int other = there.members[other_leader];
        contexts = allocate_inter_contexts(own_leader, other, here.members.size(), there.members.size());
        uint32_t across = 0;
        if (const Err e = channel.exchange(other, &contexts.across, sizeof across, &across, sizeof across);
            e != Err::success)
            return e;
        if (own_leader > other) contexts.across = across;
    }
    // The leader comes first as the root of the broadcast.
    std::vector<int> ranks = world_ranks(here.members);
    std::swap(ranks[0], ranks[static_cast<size_t>(leader)]);
    const int index = here.rank == leader ? 0 : here.rank == 0 ? leader : here.rank;
    if (const Err e = channel.broadcast(ranks, index, &contexts, sizeof contexts); e != Err::success)
        return e;
    if (contexts.across == 0 || contexts.local == 0) return context_exhausted();
    result = make_intercomm(make_team(there.members, here.rank, contexts.across),
                            make_team(here.members, here.rank, contexts.local), handler);
    if (result == nullptr) return comm_alloc_error();
    result->session = here.session;
    if (info != nullptr) result->hints = supported_hints(hints_of(*info));
    return Err::success;
}

} // namespace zipmpi::core
