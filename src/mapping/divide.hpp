// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Dividing a graph: into parts of given sizes with little between them, and into two sides that talk to each
// other only through few ranks in the middle. Pure; Scotch and METIS help if their module is there.
#pragma once

#include "mapping/module.hpp"
#include "mapping/targets.hpp"

namespace zipmpi::mapping {

// Part of each vertex; exactly sizes[p] vertices in part p. The sizes add up to the vertices of the graph.
// tools: null for the own method, which lets parts grow one by one.
std::vector<uint32_t> partition(const Graph& graph, const std::vector<uint32_t>& sizes,
                                const GraphTools* tools);

// Ranks to targets, down the tree of the hardware: those that are far from each other are divided first.
Assignment down_the_tree(const Graph& graph, const Targets& targets, const GraphTools* tools);

enum Side : uint32_t { left = 0, right = 1, middle = 2 };

struct Rooms {
    uint32_t left = 0, right = 0, middle = 0;
};

// The ranks of each side and of the middle, so that the weight between left and right is small: what cannot
// be separated by so few in the middle. The rooms have place for all.
std::vector<uint32_t> separate(const Graph& graph, const Rooms& rooms, const GraphTools* tools);
double weight_across(const Graph& graph, const std::vector<uint32_t>& side);

// Of vertices on two sides, the fewest of which one is at each edge between the sides (a minimum vertex cover
// of a bipartite graph, by Koenig's theorem).
std::vector<uint32_t> cover_of_cut(const Graph& graph, const std::vector<uint32_t>& side);

} // namespace zipmpi::mapping
