// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Where ranks can go: targets (cores, or nodes) with room for so many ranks each, and how far they are from
// each other. Pure.
#pragma once

#include "mapping/graph.hpp"

#include "topo/place.hpp"

namespace zipmpi::mapping {

struct Targets {
    std::vector<uint32_t> room;   // of each target
    std::vector<double> distance; // from each to each, symmetric, row by row; of a target from itself, too

    [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(room.size()); }
    [[nodiscard]] double between(uint32_t a, uint32_t b) const { return distance[size_t{a} * size() + b]; }
    [[nodiscard]] uint64_t total_room() const;
};

using Assignment = std::vector<uint32_t>; // rank -> target

// What one message costs: the sum over all of weight times distance.
double cost_of(const Graph& graph, const Targets& targets, const Assignment& assignment);

// Distances, in units of a message between two cores below one second-level cache. Ranks on one core take
// turns, which costs as much as what they save.
double distance_of(topo::PairClass pair);
inline constexpr double network_distance = 25; // between two nodes of a cluster
inline constexpr double gateway_distance = 75; // more, for each gateway that passes the message on

// Orders of cores; each is a list of indices into `cores`.
using CoreOrder = std::vector<uint32_t>;
CoreOrder compact_order(const std::vector<topo::Place>& cores); // neighbours next to each other
// One core of each socket, then of each memory, last-level cache and second-level cache, before a second one:
// few ranks get all memory bandwidth and all caches.
CoreOrder spread_order(const std::vector<topo::Place>& cores);
CoreOrder kernel_order(const std::vector<topo::Place>& cores, const std::vector<int>& first_cpus);

// Ranks go to the cores of an order in turn.
Assignment in_turn(uint32_t ranks, const CoreOrder& order);

// The cores of a node for so many ranks: all get the same number of ranks, but for the first ones of the
// order, which get one more if it does not come out even.
Targets cores_as_targets(const std::vector<topo::Place>& cores, uint32_t ranks, const CoreOrder& order);
// Nodes that reach each other directly.
Targets nodes_as_targets(const std::vector<uint32_t>& slots);

} // namespace zipmpi::mapping
