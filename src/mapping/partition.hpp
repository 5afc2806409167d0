// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Graph partitioning: into parts of given sizes with a small cut, and into two sides connected mostly through
// a small separator ("middle"). Pure; Scotch and METIS are used if their module is installed.
#pragma once

#include "mapping/graph_module.hpp"
#include "mapping/targets.hpp"

namespace zipmpi::mapping {

// Returns the part of each vertex, with exactly sizes[p] vertices in part p. The sizes add up to the number
// of vertices. tools: null for the built-in method, which grows parts one by one.
std::vector<uint32_t> partition(const Graph& graph, const std::vector<uint32_t>& sizes,
                                const GraphTools* tools);

// Assigns ranks to targets along the hardware tree, dividing at the largest distances first.
Assignment partition_hierarchically(const Graph& graph, const Targets& targets, const GraphTools* tools);

enum Side : uint32_t { left = 0, right = 1, middle = 2 };

struct SideCapacity {
    uint32_t left = 0, right = 0, middle = 0;
};

// Returns the side of each rank so that the weight between left and right is small. The capacities must
// suffice for all ranks.
std::vector<uint32_t> separate(const Graph& graph, const SideCapacity& capacity, const GraphTools* tools);
double cut_weight(const Graph& graph, const std::vector<uint32_t>& side);

// Minimum vertex cover of the edges between the two sides, by Koenig's theorem.
std::vector<uint32_t> minimum_vertex_cover(const Graph& graph, const std::vector<uint32_t>& side);

} // namespace zipmpi::mapping
