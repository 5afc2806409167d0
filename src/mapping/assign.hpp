// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Assignment of ranks to targets with low communication cost. Pure except for the module of graph tools.
#pragma once

#include "mapping/partition.hpp"
#include "mapping/targets.hpp"

namespace zipmpi::mapping {

struct Effort {
    uint64_t budget = 6'000'000; // pairs of ranks that the search may evaluate; about 50 ms
    uint64_t seed = 1;
    const GraphTools* tools = nullptr;
};

// Never worse than block assignment, cyclic assignment and the assignments in `initial`. The targets must
// have capacity for all ranks. Among assignments of equal cost the first is returned, so ranks do not move
// without gain.
Assignment assign_ranks(const Graph& graph, const Targets& targets, const Effort& effort,
                        const std::vector<Assignment>& initial = {});

// Block: ranks in order, each target filled before the next. Cyclic: targets in turn.
Assignment assign_block(uint32_t ranks, const Targets& targets);
Assignment assign_cyclic(uint32_t ranks, const Targets& targets);

// Nodes of several clusters. gateways: number of gateways between each two nodes, row by row.
Targets clusters_as_targets(const std::vector<uint32_t>& slots, const std::vector<uint32_t>& gateways);
// Assigns ranks that separate the communication graph to multihomed nodes, so that gateways forward little.
// Empty: there are no such nodes.
Assignment separate_at_gateways(const Graph& graph, const Targets& targets, const GraphTools* tools);

} // namespace zipmpi::mapping
