// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// MPI_Comm_split. All ranks gather all colors and keys, sort them and select their own group; the first rank
// allocates one context per group. O(p log p) work and two collectives; for an intercommunicator the first
// ranks of both groups also exchange colors and contexts.
#include "core/comm/split.hpp"

#include "core/api/comm.hpp"
#include "core/comm/comm_util.hpp"
#include "core/comm/control_channel.hpp"
#include "core/dpm/connect.hpp"
#include "core/runtime_state.hpp"
#include "proto/coll/coll.hpp"

#include <algorithm>
#include <tuple>

namespace zipmpi::core {
namespace {

namespace coll = proto::coll;

struct ColorKey {
    int color;
    int key;
};

struct ColorGroup {
    int color = 0;
    std::vector<int> ranks; // in the order of the new communicator
};

// The groups by color. Ranks with an undefined color are in none.
std::vector<ColorGroup> group_by_color(const std::vector<ColorKey>& color_keys) {
    std::vector<std::tuple<int, int, int>> sorted; // color, key, rank
    for (size_t r = 0; r < color_keys.size(); ++r)
        if (color_keys[r].color != undefined)
            sorted.emplace_back(color_keys[r].color, color_keys[r].key, static_cast<int>(r));
    std::sort(sorted.begin(), sorted.end());
    std::vector<ColorGroup> groups;
    for (const auto& [color, key, rank] : sorted) {
        if (groups.empty() || groups.back().color != color) groups.push_back({color, {}});
        groups.back().ranks.push_back(rank);
    }
    return groups;
}

Members members_of_group(const ColorGroup& group, const proto::Team& team) {
    std::vector<int> world;
    world.reserve(group.ranks.size());
    for (const int r : group.ranks) world.push_back(team.map.world(r));
    return Members(std::move(world));
}

int rank_in_group(const ColorGroup& group, int rank) {
    return static_cast<int>(std::find(group.ranks.begin(), group.ranks.end(), rank) - group.ranks.begin());
}

const ColorGroup* find_group(const std::vector<ColorGroup>& groups, int color) {
    const auto at = std::lower_bound(groups.begin(), groups.end(), color,
                                     [](const ColorGroup& p, int c) { return p.color < c; });
    return at != groups.end() && at->color == color ? &*at : nullptr;
}

// A process alone in its group allocates a private context.
uint32_t allocate_shared_context(int holders) { return holders > 1 ? allocate_context(holders) : 0; }

Err gather_color_keys(proto::Team& team, ColorKey own, std::vector<ColorKey>& all) {
    all.resize(static_cast<size_t>(team.size));
    all[static_cast<size_t>(team.rank)] = own;
    return coll::allgather(team, all.data(), sizeof(ColorKey));
}

Err split_intra(Comm& comm, ColorKey own, Comm*& result) {
    proto::Team& team = comm.team;
    std::vector<ColorKey> all;
    if (const Err e = gather_color_keys(team, own, all); e != Err::success) return e;
    const std::vector<ColorGroup> groups = group_by_color(all);
    if (groups.empty()) return Err::success;
    std::vector<uint32_t> contexts(groups.size());
    if (team.rank == 0)
        for (size_t i = 0; i < groups.size(); ++i)
            contexts[i] = allocate_shared_context(static_cast<int>(groups[i].ranks.size()));
    if (const Err e = coll::broadcast(team, contexts.data(), contexts.size() * sizeof(uint32_t), 0);
        e != Err::success)
        return e;
    if (own.color == undefined) return Err::success;
    const ColorGroup& group = *find_group(groups, own.color);
    uint32_t context = contexts[static_cast<size_t>(&group - groups.data())];
    if (group.ranks.size() == 1) context = allocate_context(1);
    if (context == 0) return context_exhausted();
    const Members members = members_of_group(group, team);
    result = make_comm(make_team(members, rank_in_group(group, team.rank), context), "", *comm.errhandler);
    if (result == nullptr) return comm_alloc_error();
    result->session = comm.session;
    return Err::success;
}

// A color that occurs in both groups, and the contexts of its communicator.
struct GroupPair {
    const ColorGroup* local;
    const ColorGroup* remote;
    InterContexts contexts;
};

std::vector<GroupPair> match_groups(const std::vector<ColorGroup>& here,
                                    const std::vector<ColorGroup>& there) {
    std::vector<GroupPair> pairs;
    for (const ColorGroup& group : here)
        if (const ColorGroup* const other = find_group(there, group.color); other != nullptr)
            pairs.push_back({&group, other, {}});
    return pairs;
}

// Leaders exchange the colors and keys of their groups and broadcast those of the other group.
Err exchange_color_keys(Comm& comm, const ControlChannel& channel, const std::vector<ColorKey>& here,
                        std::vector<ColorKey>& there) {
    there.resize(static_cast<size_t>(comm.team.size));
    const size_t bytes = there.size() * sizeof(ColorKey);
    Err e = Err::success;
    if (comm.local->rank == 0)
        e = channel.exchange(0, here.data(), here.size() * sizeof(ColorKey), there.data(), bytes);
    return e != Err::success ? e : coll::broadcast(*comm.local, there.data(), bytes, 0);
}

Err agree_on_contexts(Comm& comm, const ControlChannel& channel, std::vector<GroupPair>& pairs) {
    std::vector<InterContexts> contexts(pairs.size());
    if (comm.local->rank == 0) {
        const int here = comm.local->map.world(0);
        const int there = comm.team.map.world(0);
        std::vector<uint32_t> out;
        for (size_t i = 0; i < pairs.size(); ++i) {
            const int local_size = static_cast<int>(pairs[i].local->ranks.size());
            contexts[i].local = allocate_shared_context(local_size);
            if (precedes(here, there))
                contexts[i].across =
                    allocate_context(local_size + static_cast<int>(pairs[i].remote->ranks.size()));
            out.push_back(contexts[i].across);
        }
        std::vector<uint32_t> in(out.size());
        const size_t bytes = out.size() * sizeof(uint32_t);
        if (const Err e = channel.exchange(0, out.data(), bytes, in.data(), bytes); e != Err::success)
            return e;
        if (precedes(there, here))
            for (size_t i = 0; i < in.size(); ++i) contexts[i].across = in[i];
    }
    const Err e = coll::broadcast(*comm.local, contexts.data(), contexts.size() * sizeof(InterContexts), 0);
    for (size_t i = 0; i < pairs.size(); ++i) pairs[i].contexts = contexts[i];
    return e;
}

Err split_inter(Comm& comm, ColorKey own, Comm*& result) {
    std::vector<ColorKey> here;
    std::vector<ColorKey> there;
    const ControlChannel channel = ControlChannel::collective(comm.team);
    if (const Err e = gather_color_keys(*comm.local, own, here); e != Err::success) return e;
    if (const Err e = exchange_color_keys(comm, channel, here, there); e != Err::success) return e;
    const std::vector<ColorGroup> local_groups = group_by_color(here);
    const std::vector<ColorGroup> remote_groups = group_by_color(there);
    std::vector<GroupPair> pairs = match_groups(local_groups, remote_groups);
    if (pairs.empty()) return Err::success;
    if (const Err e = agree_on_contexts(comm, channel, pairs); e != Err::success) return e;
    const auto own_pair = std::find_if(pairs.begin(), pairs.end(),
                                       [&](const GroupPair& p) { return p.local->color == own.color; });
    if (own.color == undefined || own_pair == pairs.end()) return Err::success;
    if (own_pair->local->ranks.size() == 1) own_pair->contexts.local = allocate_context(1);
    if (own_pair->contexts.across == 0 || own_pair->contexts.local == 0) return context_exhausted();
    const int rank = rank_in_group(*own_pair->local, comm.local->rank);
    result = make_intercomm(
        make_team(members_of_group(*own_pair->remote, comm.team), rank, own_pair->contexts.across),
        make_team(members_of_group(*own_pair->local, *comm.local), rank, own_pair->contexts.local),
        *comm.errhandler);
    if (result == nullptr) return comm_alloc_error();
    result->session = comm.session;
    return Err::success;
}

} // namespace

Err split(Comm& comm, int color, int key, Comm*& result) {
    result = nullptr;
    return comm.inter() ? split_inter(comm, {color, key}, result) : split_intra(comm, {color, key}, result);
}

Err comm_split(Comm& comm, int color, int key, Comm*& result) {
    if (color < 0 && color != undefined)
        return fail(Err::arg, "pass a color of 0 or more, or MPI_UNDEFINED", "color is %d", color);
    return split(comm, color, key, result);
}

} // namespace zipmpi::core
