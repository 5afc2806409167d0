// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Where reordering happens: the one place that decides which process gets which rank of a topology.
#pragma once

#include "core/comm/comm.hpp"
#include "topo/place.hpp"

#include <vector>

namespace zipmpi::core {

// One edge of the graph of those who talk: ranks of the new topology, with how much.
struct Edge {
    int from;
    int to;
    int weight;
};

// order[r]: the rank on a communicator of the process that becomes rank r of a topology.
using Order = std::vector<int>;
Order same_order(int size); // every process keeps its rank

// Where a process is: on which host of which cluster, and where on that.
struct Spot {
    int32_t cluster = 0;
    int32_t node = 0;
    topo::Place place;
};
// From what two processes share, which is a cache at best and nothing at worst.
int64_t distance(const Spot& a, const Spot& b);

// Puts those who talk much near to each other, given the spot of each process. Groups of processes that
// share hardware are filled one after another with ranks that talk most to what is in the group already, then
// pairs change places (src/mapping). Not worse than every process keeping its rank: if it would be, that is
// the result. O(e log e).
Order near_order(const std::vector<Spot>& spots, int size, const std::vector<Edge>& edges);
// What the messages of an order cost: the distances that they travel.
int64_t cost_of(const Order& order, const std::vector<Spot>& spots, const std::vector<Edge>& edges);

// The same for the processes of a communicator, which tell each other where they are. Collective.
Err place_on(Comm& comm, int size, const std::vector<Edge>& edges, Order& order);
// The same by what is known of the others, who need not call this: on one host where each is, which the
// node's memory says, on several only which host. Every process that asks gets the same answer. Waits for
// processes that are still about to start.
Order order_without_others(const Comm& comm, int size, const std::vector<Edge>& edges);

} // namespace zipmpi::core
