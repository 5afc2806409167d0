// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// When the second level is worth while, or which form of it; pure functions of the shape and the constants.
#include "proto/coll/two_level/two_level.hpp"

#include "proto/coll/algorithms.hpp"

#include <algorithm>

namespace zipmpi::proto::coll::two_level {

// Both forms send as much to other nodes. One leader combines and copies (m - 1) n within the node and sends
// alone; with shares all do, until the network is full, in more messages within the node.
bool shares_are_cheaper(const Levels& l, const Combine& op) {
    if (!l.nodes.same_size() || op.count < static_cast<int64_t>(l.node.size) * l.nodes.count()) return false;
    const double m = l.node.size;
    const auto bytes = static_cast<double>(op.bytes());
    const Constants node = node_constants();
    const Constants network = network_constants();
    const double by_one =
        2 * rounds_of(l.node.size) * (node.message + bytes * node.byte) + 2 * bytes * network.byte;
    const double by_all = 2 * (m - 1) * (node.message + bytes / m * node.byte) +
                          2 * bytes / std::min(m, network_streams()) * network.byte;
    return by_all < by_one;
}

namespace {

// Messages that are under way at the same time cost a part of one alone.
constexpr double under_way_at_once = 4;

// What a rank saves that would have to talk to all ranks of other nodes, and talks to their leaders. By what
// is the same on all ranks: the largest node.
double messages_saved(const Levels& l, const Team& t) {
    return (t.size - l.nodes.largest() - l.nodes.count() + 1) * network_constants().message /
           under_way_at_once;
}

} // namespace

// In bundles, bytes are copied once more.
bool bundles_are_cheaper(const Levels& l, const Team& t, size_t block) {
    return messages_saved(l, t) > l.nodes.largest() * static_cast<double>(block) * node_constants().byte;
}

// m p blocks are sorted twice, and copied to the leader and back through shared memory, each way twice.
bool exchange_is_cheaper(const Levels& l, const Team& t, size_t block) {
    constexpr double copies = 6;
    return messages_saved(l, t) >
           copies * l.nodes.largest() * t.size * static_cast<double>(block) * node_constants().byte;
}

} // namespace zipmpi::proto::coll::two_level
