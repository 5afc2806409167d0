// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Targets of an assignment: cores or nodes, with capacities in ranks and pairwise distances. Pure.
#pragma once

#include "mapping/graph.hpp"

#include "hwtopo/machine.hpp"

namespace zipmpi::mapping {

struct Targets {
    std::vector<uint32_t> capacity; // of each target
    std::vector<double> distance;   // symmetric matrix, row by row; the diagonal is used too

    [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(capacity.size()); }
    [[nodiscard]] double between(uint32_t a, uint32_t b) const { return distance[size_t{a} * size() + b]; }
    [[nodiscard]] uint64_t total_capacity() const;
};

using Assignment = std::vector<uint32_t>; // rank -> target

// Sum of weight times distance over all edges.
double cost_of(const Graph& graph, const Targets& targets, const Assignment& assignment);

// Distances in units of a message between two cores with a common L2 cache. Ranks on one core time-share it,
// which costs as much as they save.
double distance_of(hwtopo::PairClass pair);
inline constexpr double network_distance = 25; // between two nodes of a cluster
inline constexpr double gateway_distance = 75; // added for each gateway on the path

// Orders of cores; each is a list of indices into `cores`.
using CoreOrder = std::vector<uint32_t>;
CoreOrder compact_order(const std::vector<hwtopo::Locality>& cores); // hardware order
// One core of each socket, NUMA node, L3 cache and L2 cache before a second one, so that few ranks get all
// memory bandwidth and all caches.
CoreOrder spread_order(const std::vector<hwtopo::Locality>& cores);
CoreOrder kernel_order(const std::vector<hwtopo::Locality>& cores, const std::vector<int>& first_cpus);

// Assigns ranks to the cores of an order in turn.
Assignment assign_round_robin(uint32_t ranks, const CoreOrder& order);

// Cores of a node as targets for `ranks` ranks. Capacities differ by at most one; the first cores of the
// order get the remainder.
Targets cores_as_targets(const std::vector<hwtopo::Locality>& cores, uint32_t ranks, const CoreOrder& order);
// Nodes of one cluster.
Targets nodes_as_targets(const std::vector<uint32_t>& slots);

} // namespace zipmpi::mapping
