// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Communicators of processes that share hardware. A process belongs to a core, cache or NUMA node only if it
// is bound to it, for example by mpiexec --bind-to.
#include "core/api/comm.hpp"
#include "core/api/env.hpp"
#include "core/comm/cluster.hpp"
#include "core/comm/locality.hpp"
#include "core/comm/split.hpp"
#include "core/runtime_state.hpp"
#include "proto/coll/coll.hpp"
#include "proto/p2p/progress_engine.hpp"
#include "transport/interjob/interjob_network.hpp"

#include <algorithm>

namespace zipmpi::core {
namespace {

constexpr const char* resource_key = "mpi_hw_resource_type";
constexpr const char* shared_memory = "mpi_shared_memory";

// Processes of one host have an equal id: the lowest world rank on it.
int host_id() { return runtime()->segment.world_rank(0); }

int color_at(const hwtopo::Locality& locality, hwtopo::Level level) {
    const uint16_t index = hwtopo::index_at(locality, level);
    return index != hwtopo::spans_several ? static_cast<int>(runtime()->segment.node() << 16 | index)
                                          : undefined;
}

int color_of_level(hwtopo::Level level) {
    hwtopo::Locality locality{};
    return find_own_locality(locality) ? color_at(locality, level) : undefined;
}

// The color for the resource named in the info object; undefined if this process has no such resource.
int color_of_resource(Info* info, const char* key) {
    const std::string* const name = info != nullptr ? hints_of(*info).find(key) : nullptr;
    if (name == nullptr) return undefined;
    if (*name == shared_memory) return host_id();
    if (*name == cluster_resource) return own_cluster().number;
    if (*name == "mpi://WORLD") return 0;
    if (*name == "mpi://SELF") return runtime()->job.rank;
    hwtopo::Level level{};
    return hwtopo::parse_level(*name, level) ? color_of_level(level) : undefined;
}

int color_guided(Info* info, bool include_psets) {
    const int color = color_of_resource(info, resource_key);
    return color == undefined && include_psets ? color_of_resource(info, "mpi_pset_name") : color;
}

bool on_one_node(const proto::Team& team) {
    for (int r = 0; r < team.size; ++r)
        if (!progress_engine().peers().on_this_node(team.map.world(r))) return false;
    return true;
}

// The outermost level that the members do not all share, so that every group is smaller than the whole.
Err color_unguided(Comm& comm, Info* info, int& color) {
    proto::Team& team = comm.own_team();
    if (!on_one_node(team)) {
        color = host_id();
        if (info != nullptr) info->hints.set(resource_key, shared_memory);
        return Err::success;
    }
    std::vector<hwtopo::Locality> localities(static_cast<size_t>(team.size));
    hwtopo::Locality& own = localities[static_cast<size_t>(team.rank)];
    if (!find_own_locality(own)) own = unknown_locality;
    color = undefined;
    if (const Err e = proto::coll::allgather(team, localities.data(), sizeof own); e != Err::success)
        return e;
    for (const hwtopo::Level level : hwtopo::levels) {
        const uint16_t first = hwtopo::index_at(localities[0], level);
        bool shared = true;
        for (const hwtopo::Locality& locality : localities)
            shared = shared && hwtopo::index_at(locality, level) == first;
        if (shared) continue;
        color = color_at(own, level);
        if (info != nullptr) info->hints.set(resource_key, std::string("hwloc://") + hwtopo::name(level));
        return Err::success;
    }
    return Err::success;
}

// Processes of different jobs share nothing, even on one host, and may have equal ids for different
// resources: the color becomes the first rank of the same job with an equal color.
Err separate_jobs(proto::Team& team, int& color) {
    struct Colored {
        uint64_t job;
        int64_t color;
    };
    std::vector<Colored> all(static_cast<size_t>(team.size));
    all[static_cast<size_t>(team.rank)] = {runtime()->interjob_network->contact_info().name.job, color};
    if (const Err e = proto::coll::allgather(team, all.data(), sizeof(Colored)); e != Err::success) return e;
    const Colored own = all[static_cast<size_t>(team.rank)];
    const auto same = [&](const Colored& c) { return c.job == own.job && c.color == own.color; };
    if (color != undefined) color = static_cast<int>(std::ranges::find_if(all, same) - all.begin());
    return Err::success;
}

Err color_for(Comm& comm, SplitType type, Info* info, int& color) {
    switch (type) {
    case SplitType::shared:
        color = host_id();
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
    if (e == Err::success && proto::has_external(comm.own_team())) e = separate_jobs(comm.own_team(), color);
    return e == Err::success ? split(comm, color, key, result) : e;
}

// Resources to which this process is bound are "true", the others "false".
Err get_hw_resource_info(Info*& info) {
    Hints hints;
    hints.set(shared_memory, "true");
    hints.set(cluster_resource, "true");
    hwtopo::Locality locality{};
    const bool has_locality = find_own_locality(locality);
    for (const hwtopo::Level level : hwtopo::levels)
        if (has_locality)
            hints.set(std::string("hwloc://") + hwtopo::name(level),
                      hwtopo::index_at(locality, level) != hwtopo::spans_several ? "true" : "false");
    return make_info(std::move(hints), info);
}

} // namespace zipmpi::core
