// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// From the description of a grid to the parts of a start request: which daemon is started by which, which
// ranks are where, and what ranks and gateways are told. Pure.
#pragma once

#include "launch/grid/grid_file.hpp"
#include "launch/link/messages.hpp"

#include "mapping/graph.hpp"

namespace zipmpi::launch {

struct GridWishes {
    uint32_t ranks = 0; // 0: one for each slot
    MapBy map_by = MapBy::slot;
    uint32_t width = 32;
    std::string agent; // for hosts whose cluster or gateway names none
    // Who talks to whom: ranks go where little must be passed on by gateways. Null: in their order.
    const mapping::Graph* graph = nullptr;
};

// Fills map, tree.hosts, .agents, .agent_of, .parents and .clusters, grid and gateway_nodes of the request.
// Ranks go to the clusters in their order; those on a gateway host come last in its first cluster.
bool plan_grid(const GridFile& file, const GridWishes& wishes, StartRequest& request, Problem& why);

} // namespace zipmpi::launch
