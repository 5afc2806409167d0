// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Policy of mapping, ranking and binding: filled from the command line, carried in the start request, applied
// by map_ranks() (hosts) and assign_cpus() (CPUs of one host). Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace zipmpi::launch {

// A hardware unit, from small to large. `automatic`: not given.
enum class Unit : uint32_t {
    automatic,
    none,
    slot,
    hwthread,
    core,
    l1cache,
    l2cache,
    l3cache,
    numa,
    socket,
    board,
    node // must be last
};

enum class MapStrategy : uint32_t {
    automatic,   // fill a host before the next; each rank gets its share of the cores
    packed,      // fill a host before the next, unit by unit
    round_robin, // units of `map_unit` round robin: node, socket, numa, l3cache, ...
    spread,      // as far apart as caches and sockets allow
    per_unit,    // `per_unit` ranks on each `map_unit` (ppr:N:unit, -npernode, -ppn)
    matrix,      // by the communication matrix in `matrix_file`
    rank_file,   // host and CPUs of each rank in `rank_file`
    sequential,  // one rank per line of the host file, in order; must be last
};

struct PlacementPolicy {
    struct RankFileEntry { // one line of a rank file
        uint32_t rank = 0;
        std::string host;
        std::string cpus; // "0-3,8" or "socket:cores" as written
    };

    MapStrategy strategy = MapStrategy::automatic;
    Unit map_unit = Unit::automatic;
    uint32_t per_unit = 0;       // for MapStrategy::per_unit
    uint32_t cores_per_rank = 0; // PE=N, --cpus-per-proc; 0: not given
    Unit rank_by = Unit::automatic;
    Unit bind_to = Unit::automatic;
    bool overload_allowed = true; // more ranks than cores may be bound
    std::string cpu_set;          // --cpu-set: usable CPUs, "0-3,8"; empty: all
    std::string matrix_file;
    std::vector<RankFileEntry> rank_file;
    bool report_bindings = false; // one line per rank on stderr: binding and reason
    bool show_map = false;        // --display map, --show-placement
};

} // namespace zipmpi::launch
