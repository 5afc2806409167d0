// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The best assignment that is found for ranks that talk. Pure but for the module of graph tools.
#pragma once

#include "mapping/divide.hpp"
#include "mapping/targets.hpp"

namespace zipmpi::mapping {

struct Effort {
    uint64_t looks = 6'000'000; // pairs of ranks that the search may look at; some 50 ms
    uint64_t seed = 1;
    const GraphTools* tools = nullptr;
};

// Never worse than the ranks in their order over the targets in theirs, and than ranks that go to the targets
// in turn, nor than `given`, if there is one. The targets must have room for all ranks. An assignment that is
// as good as another is taken for the first of them: nobody moves for nothing.
Assignment best_assignment(const Graph& graph, const Targets& targets, const Effort& effort,
                           const std::vector<Assignment>& given = {});

// Ranks in their order, each target filled before the next; and targets in turn.
Assignment fill(uint32_t ranks, const Targets& targets);
Assignment take_turns(uint32_t ranks, const Targets& targets);

// Nodes of several clusters. gateways: how many pass a message on between each two nodes, row by row.
Targets grid_as_targets(const std::vector<uint32_t>& slots, const std::vector<uint32_t>& gateways);
// Ranks that separate the others from each other go to nodes in several clusters, so that little is passed
// on. Empty: no such nodes.
Assignment through_the_middle(const Graph& graph, const Targets& targets, const GraphTools* tools);

} // namespace zipmpi::mapping
