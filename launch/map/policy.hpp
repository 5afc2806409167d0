// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the user asks of mapping, ranking and binding: filled by the command line, carried in the start
// request, obeyed by map_ranks() (hosts) and place() (CPUs of one host). Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace zipmpi::launch {

// A part of the hardware, from small to large. `automatic`: nothing was said.
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
    node // the last one
};

enum class MapStrategy : uint32_t {
    automatic,   // fill a host before the next; each rank has its share of the cores
    packed,      // fill a host before the next, unit by unit
    round_robin, // units of `map_unit` in turn: node, socket, numa, l3cache, ...
    spread,      // as far apart as caches and sockets allow
    per_unit,    // `per_unit` ranks on each `map_unit` (ppr:N:unit, -npernode, -ppn)
    matrix,      // by the communication matrix `matrix_file`
    rank_file,   // every rank has its host and CPUs in `rank_file`
    sequential,  // one rank per line of the host file, in order; the last one
};

struct PlacementPolicy {
    struct RankPlace { // one line of a rank file
        uint32_t rank = 0;
        std::string host;
        std::string cpus; // "0-3,8" or "socket:cores" as written
    };

    MapStrategy strategy = MapStrategy::automatic;
    Unit map_unit = Unit::automatic;
    uint32_t per_unit = 0;       // of MapStrategy::per_unit
    uint32_t cores_per_rank = 0; // PE=N, --cpus-per-proc; 0: not given
    Unit rank_by = Unit::automatic;
    Unit bind_to = Unit::automatic;
    bool overload_allowed = true; // more ranks than cores may be bound
    std::string cpu_set;          // --cpu-set: CPUs that may be used, "0-3,8"; empty: all
    std::string matrix_file;
    std::vector<RankPlace> rank_file;
    bool report_bindings = false; // one line per rank on stderr: what it is bound to, and why
    bool show_map = false;        // --display map, --show-placement
};

} // namespace zipmpi::launch
