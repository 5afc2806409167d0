// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Communicators of processes that share hardware. A process is part of a core, cache or memory only if it
// cannot run anywhere else: mpiexec --bind-to makes that so.
#include "core/comm/cluster.hpp"
#include "core/comm/hardware.hpp"
#include "core/comm/split.hpp"
#include "core/state.hpp"
#include "proto/coll/coll.hpp"
#include "proto/p2p/lane.hpp"
#include "worlds/network.hpp"

#include <algorithm>

namespace zipmpi::core {
namespace {

constexpr const char* resource_key = "mpi_hw_resource_type";
constexpr const char* shared_memory = "mpi_shared_memory";

// Processes of one host have the same number: the first rank of the job there.
int host_number() { return engine()->segment.world_rank(0); }

int color_at(const topo::Place& place, topo::Level level) {
    const uint16_t index = topo::index_at(place, level);
    return index != topo::several ? static_cast<int>(engine()->segment.node() << 16 | index) : undefined;
}

int color_of_level(topo::Level level) {
    topo::Place place{};
    return find_own_place(place) ? color_at(place, level) : undefined;
}

// The colour of what the info object names; undefined if there is no such thing here.
int color_of_resource(Info* info, const char* key) {
    const std::string* const name = info != nullptr ? hints_of(*info).find(key) : nullptr;
    if (name == nullptr) return undefined;
    if (*name == shared_memory) return host_number();
    if (*name == cluster_resource) return own_cluster().number;
    if (*name == "mpi://WORLD") return 0;
    if (*name == "mpi://SELF") return engine()->job.rank;
    topo::Level level{};
    return topo::level_named(*name, level) ? color_of_level(level) : undefined;
}

int color_guided(Info* info, bool process_sets_too) {
    const int color = color_of_resource(info, resource_key);
    return color == undefined && process_sets_too ? color_of_resource(info, "mpi_pset_name") : color;
}

bool on_one_node(const proto::Team& team) {
    for (int r = 0; r < team.size; ++r)
        if (!lane().on_this_node(team.map.world(r))) return false;
    return true;
}

// The outermost level that the members do not all share, so that every part is smaller than the whole.
Err color_unguided(Comm& comm, Info* info, int& color) {
    proto::Team& team = comm.own_team();
    if (!on_one_node(team)) {
        color = host_number();
        if (info != nullptr) info->hints.set(resource_key, shared_memory);
        return Err::success;
    }
    std::vector<topo::Place> places(static_cast<size_t>(team.size));
    topo::Place& own = places[static_cast<size_t>(team.rank)];
    if (!find_own_place(own)) own = nowhere;
    color = undefined;
    if (const Err e = proto::coll::allgather(team, places.data(), sizeof own); e != Err::success) return e;
    for (const topo::Level level : topo::levels) {
        const uint16_t first = topo::index_at(places[0], level);
        bool shared = true;
        for (const topo::Place& place : places) shared = shared && topo::index_at(place, level) == first;
        if (shared) continue;
        color = color_at(own, level);
        if (info != nullptr) info->hints.set(resource_key, std::string("hwloc://") + topo::name(level));
        return Err::success;
    }
    return Err::success;
}

// Processes of different jobs share nothing, even on one host, and may have the same numbers for different
// things: the colour becomes the first rank of the same job with the same one.
Err tell_jobs_apart(proto::Team& team, int& color) {
    struct Colored {
        uint64_t world;
        int64_t color;
    };
    std::vector<Colored> all(static_cast<size_t>(team.size));
    all[static_cast<size_t>(team.rank)] = {engine()->worlds->card().name.world, color};
    if (const Err e = proto::coll::allgather(team, all.data(), sizeof(Colored)); e != Err::success) return e;
    const Colored own = all[static_cast<size_t>(team.rank)];
    const auto same = [&](const Colored& c) { return c.world == own.world && c.color == own.color; };
    if (color != undefined) color = static_cast<int>(std::ranges::find_if(all, same) - all.begin());
    return Err::success;
}

Err color_for(Comm& comm, SplitType type, Info* info, int& color) {
    switch (type) {
    case SplitType::shared:
        color = host_number();
        break;
    case SplitType::hw_guided:
    case SplitType::resource_guided:
        color = color_guided(info, type == SplitType::resource_guided);
        break;
    case SplitType::hw_unguided:
        return color_unguided(comm, info, color);
    case SplitType::none:
        color = undefined;
        break;
    }
    return Err::success;
}

} // namespace

Err comm_split_type(Comm& comm, SplitType type, int key, Info* info, Comm*& result) {
    int color = undefined;
    Err e = color_for(comm, type, info, color);
    if (e == Err::success && proto::has_foreign(comm.own_team())) e = tell_jobs_apart(comm.own_team(), color);
    return e == Err::success ? split(comm, color, key, result) : e;
}

// What this process cannot leave is "true", what it can is "false".
Err get_hw_resource_info(Info*& info) {
    Hints hints;
    hints.set(shared_memory, "true");
    hints.set(cluster_resource, "true");
    topo::Place place{};
    const bool known = find_own_place(place);
    for (const topo::Level level : topo::levels)
        if (known)
            hints.set(std::string("hwloc://") + topo::name(level),
                      topo::index_at(place, level) != topo::several ? "true" : "false");
    return make_info(std::move(hints), info);
}

} // namespace zipmpi::core
