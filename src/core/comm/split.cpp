// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Communicators out of parts of another. Everybody learns everybody's colour and key, sorts them, and takes
// its own part; the first rank draws one context per part. O(p log p) work, two collectives; of an
// intercommunicator the first ranks of both groups exchange colours and contexts besides.
#include "core/comm/split.hpp"

#include "core/comm/link.hpp"
#include "core/comm/make.hpp"
#include "core/state.hpp"
#include "core/worlds/worlds.hpp"
#include "proto/coll/coll.hpp"

#include <algorithm>
#include <tuple>

namespace zipmpi::core {
namespace {

namespace coll = proto::coll;

struct Choice {
    int color;
    int key;
};

struct Part {
    int color = 0;
    std::vector<int> ranks; // in the order of the new communicator
};

// The parts, by colour. Ranks without a colour are in none.
std::vector<Part> parts_of(const std::vector<Choice>& choices) {
    std::vector<std::tuple<int, int, int>> sorted; // colour, key, rank
    for (size_t r = 0; r < choices.size(); ++r)
        if (choices[r].color != undefined)
            sorted.emplace_back(choices[r].color, choices[r].key, static_cast<int>(r));
    std::sort(sorted.begin(), sorted.end());
    std::vector<Part> parts;
    for (const auto& [color, key, rank] : sorted) {
        if (parts.empty() || parts.back().color != color) parts.push_back({color, {}});
        parts.back().ranks.push_back(rank);
    }
    return parts;
}

Members members_of_part(const Part& part, const proto::Team& team) {
    std::vector<int> world;
    world.reserve(part.ranks.size());
    for (const int r : part.ranks) world.push_back(team.map.world(r));
    return Members(std::move(world));
}

int own_place(const Part& part, int rank) {
    return static_cast<int>(std::find(part.ranks.begin(), part.ranks.end(), rank) - part.ranks.begin());
}

const Part* part_with(const std::vector<Part>& parts, int color) {
    const auto at =
        std::lower_bound(parts.begin(), parts.end(), color, [](const Part& p, int c) { return p.color < c; });
    return at != parts.end() && at->color == color ? &*at : nullptr;
}

// A process alone in its part draws its own context.
uint32_t draw_for_others(int holders) { return holders > 1 ? draw_context(holders) : 0; }

Err gather_choices(proto::Team& team, Choice own, std::vector<Choice>& all) {
    all.resize(static_cast<size_t>(team.size));
    all[static_cast<size_t>(team.rank)] = own;
    return coll::allgather(team, all.data(), sizeof(Choice));
}

Err split_intra(Comm& comm, Choice own, Comm*& result) {
    proto::Team& team = comm.team;
    std::vector<Choice> all;
    if (const Err e = gather_choices(team, own, all); e != Err::success) return e;
    const std::vector<Part> parts = parts_of(all);
    if (parts.empty()) return Err::success;
    std::vector<uint32_t> contexts(parts.size());
    if (team.rank == 0)
        for (size_t i = 0; i < parts.size(); ++i)
            contexts[i] = draw_for_others(static_cast<int>(parts[i].ranks.size()));
    if (const Err e = coll::broadcast(team, contexts.data(), contexts.size() * sizeof(uint32_t), 0);
        e != Err::success)
        return e;
    if (own.color == undefined) return Err::success;
    const Part& part = *part_with(parts, own.color);
    uint32_t context = contexts[static_cast<size_t>(&part - parts.data())];
    if (part.ranks.size() == 1) context = draw_context(1);
    if (context == 0) return no_context();
    const Members members = members_of_part(part, team);
    result = make_comm(make_team(members, own_place(part, team.rank), context), "", *comm.errhandler);
    if (result == nullptr) return no_comm();
    result->session = comm.session;
    return Err::success;
}

// A part that both groups have, and the contexts of its communicator.
struct Pair {
    const Part* here;
    const Part* there;
    InterContexts contexts;
};

std::vector<Pair> pairs_of(const std::vector<Part>& here, const std::vector<Part>& there) {
    std::vector<Pair> pairs;
    for (const Part& part : here)
        if (const Part* const other = part_with(there, part.color); other != nullptr)
            pairs.push_back({&part, other, {}});
    return pairs;
}

// Leaders tell each other the choices of their groups, and their groups those of the other.
Err exchange_choices(Comm& comm, const Link& link, const std::vector<Choice>& here,
                     std::vector<Choice>& there) {
    there.resize(static_cast<size_t>(comm.team.size));
    const size_t bytes = there.size() * sizeof(Choice);
    Err e = Err::success;
    if (comm.local->rank == 0)
        e = link.exchange(0, here.data(), here.size() * sizeof(Choice), there.data(), bytes);
    return e != Err::success ? e : coll::broadcast(*comm.local, there.data(), bytes, 0);
}

Err agree_on_contexts(Comm& comm, const Link& link, std::vector<Pair>& pairs) {
    std::vector<InterContexts> drawn(pairs.size());
    if (comm.local->rank == 0) {
        const int here = comm.local->map.world(0);
        const int there = comm.team.map.world(0);
        std::vector<uint32_t> out;
        for (size_t i = 0; i < pairs.size(); ++i) {
            const int own = static_cast<int>(pairs[i].here->ranks.size());
            drawn[i].local = draw_for_others(own);
            if (goes_before(here, there))
                drawn[i].across = draw_context(own + static_cast<int>(pairs[i].there->ranks.size()));
            out.push_back(drawn[i].across);
        }
        std::vector<uint32_t> in(out.size());
        const size_t bytes = out.size() * sizeof(uint32_t);
        if (const Err e = link.exchange(0, out.data(), bytes, in.data(), bytes); e != Err::success) return e;
        if (goes_before(there, here))
            for (size_t i = 0; i < in.size(); ++i) drawn[i].across = in[i];
    }
    const Err e = coll::broadcast(*comm.local, drawn.data(), drawn.size() * sizeof(InterContexts), 0);
    for (size_t i = 0; i < pairs.size(); ++i) pairs[i].contexts = drawn[i];
    return e;
}

Err split_inter(Comm& comm, Choice own, Comm*& result) {
    std::vector<Choice> here;
    std::vector<Choice> there;
    const Link link = Link::collective(comm.team);
    if (const Err e = gather_choices(*comm.local, own, here); e != Err::success) return e;
    if (const Err e = exchange_choices(comm, link, here, there); e != Err::success) return e;
    const std::vector<Part> parts_here = parts_of(here);
    const std::vector<Part> parts_there = parts_of(there);
    std::vector<Pair> pairs = pairs_of(parts_here, parts_there);
    if (pairs.empty()) return Err::success;
    if (const Err e = agree_on_contexts(comm, link, pairs); e != Err::success) return e;
    const auto mine =
        std::find_if(pairs.begin(), pairs.end(), [&](const Pair& p) { return p.here->color == own.color; });
    if (own.color == undefined || mine == pairs.end()) return Err::success;
    if (mine->here->ranks.size() == 1) mine->contexts.local = draw_context(1);
    if (mine->contexts.across == 0 || mine->contexts.local == 0) return no_context();
    const int rank = own_place(*mine->here, comm.local->rank);
    result = make_intercomm(make_team(members_of_part(*mine->there, comm.team), rank, mine->contexts.across),
                            make_team(members_of_part(*mine->here, *comm.local), rank, mine->contexts.local),
                            *comm.errhandler);
    if (result == nullptr) return no_comm();
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
        return fail(Err::arg, "pass a colour of 0 or more, or MPI_UNDEFINED", "color is %d", color);
    return split(comm, color, key, result);
}

} // namespace zipmpi::core
