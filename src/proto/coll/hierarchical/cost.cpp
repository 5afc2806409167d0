// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// When hierarchical algorithms pay off; pure functions of the shape and the cost model.
#include "proto/coll/hierarchical/hierarchical.hpp"

#include "proto/coll/algorithms.hpp"

#include <algorithm>

namespace zipmpi::proto::coll::hierarchical {

// Both variants send equally many bytes to other nodes. A single leader combines and copies (m - 1) n bytes
// within the node and sends alone; several leaders share this work until the network is saturated, at the
// price of more messages within the node.
bool prefer_multi_leader(const Hierarchy& l, int64_t count, size_t vector_bytes) {
    if (!l.nodes.is_uniform() || count < static_cast<int64_t>(l.node.size) * l.nodes.count()) return false;
    const double m = l.node.size;
    const auto bytes = static_cast<double>(vector_bytes);
    const CostModel node = node_cost_model();
    const CostModel network = network_cost_model();
    const double by_one =
        2 * rounds_of(l.node.size) * (node.message + bytes * node.byte) + 2 * bytes * network.byte;
    const double by_all = 2 * (m - 1) * (node.message + bytes / m * node.byte) +
                          2 * bytes / std::min(m, network_senders()) * network.byte;
    return by_all < by_one;
}

namespace {

// Factor by which concurrent messages are cheaper than single ones.
constexpr double concurrent_messages = 4;

// Time a rank saves by sending to the leaders of other nodes instead of all their ranks. Uses the largest
// node, which is equal on all ranks.
double messages_saved(const Hierarchy& l, int ranks) {
    return (ranks - l.nodes.largest() - l.nodes.count() + 1) * network_cost_model().message /
           concurrent_messages;
}

} // namespace

// Aggregation copies the bytes once more.
bool prefer_hierarchical_gather(const Hierarchy& l, int ranks, size_t block) {
    return messages_saved(l, ranks) > l.nodes.largest() * static_cast<double>(block) * node_cost_model().byte;
}

// m p blocks are reordered twice, and copied twice through shared memory in each direction.
bool prefer_hierarchical_alltoall(const Hierarchy& l, int ranks, size_t block) {
    constexpr double copies = 6;
    return messages_saved(l, ranks) >
           copies * l.nodes.largest() * ranks * static_cast<double>(block) * node_cost_model().byte;
}

} // namespace zipmpi::proto::coll::hierarchical
