// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// All-to-all of small blocks: leaders gather the blocks of their node, exchange one message per pair of
// nodes, and scatter the received blocks. Cost 2 N of m p blocks + A of m m blocks, and two copies; a node
// sends n - 1 messages instead of m (p - m).
#include "proto/coll/hierarchical/hierarchical.hpp"

#include "proto/coll/algorithms.hpp"

#include <cstring>

namespace zipmpi::proto::coll::hierarchical {
namespace {

// Reorders blocks at the leader between member order and node order.
struct Transpose {
    const int* first; // by node: its first rank; n + 1 entries
    int nodes;
    size_t m;
    size_t p;
    size_t block;
    std::byte* by_member; // for each member of this node, one block per rank
    std::byte* by_node;   // for each node, the message to or from it

    // To node B: for each member of this node, the blocks of all members of B.
    void to_node_order() const {
        std::byte* to = by_node;
        for (int b = 0; b < nodes; ++b) {
            const auto from = static_cast<size_t>(first[b]);
            const size_t bytes = static_cast<size_t>(first[b + 1] - first[b]) * block;
            for (size_t i = 0; i < m; ++i, to += bytes)
                std::memcpy(to, by_member + (i * p + from) * block, bytes);
        }
    }
    // From node B: for each member of B, the blocks of all members of this node.
    void to_member_order() const {
        const std::byte* from = by_node;
        for (size_t r = 0; r < p; ++r)
            for (size_t i = 0; i < m; ++i, from += block)
                std::memcpy(by_member + (i * p + r) * block, from, block);
    }
};

Blocks node_messages(Schedule& s, const Hierarchy& l, std::byte* base, size_t block) {
    const auto n = static_cast<size_t>(l.nodes.count());
    auto* blocks = reinterpret_cast<Block*>(s.scratch(n * sizeof(Block)));
    if (blocks == nullptr) return {};
    for (int i = 0; i < l.nodes.count(); ++i) {
        const size_t to_each = static_cast<size_t>(l.node.size) * block;
        blocks[i] = {base + static_cast<size_t>(l.nodes.first_rank(i)) * to_each,
                     static_cast<size_t>(l.nodes.size_of(i)) * to_each};
    }
    return {blocks, n};
}

// Turns the blocks that the members of this node send into those they receive.
void exchange(Collective& c, Team& t, const Hierarchy& l, std::byte* by_member, size_t block) {
    Schedule& s = c.schedule();
    const auto m = static_cast<size_t>(l.node.size);
    const auto p = static_cast<size_t>(t.size);
    const auto n = static_cast<size_t>(l.nodes.count());
    std::byte* out = s.scratch(m * p * block);
    std::byte* in = s.scratch(m * p * block);
    auto* first = reinterpret_cast<int*>(s.scratch((n + 1) * sizeof(int)));
    if (out == nullptr || in == nullptr || first == nullptr) return;
    for (size_t i = 0; i <= n; ++i) first[i] = l.nodes.first_rank(static_cast<int>(i));
    auto* before = s.make<Transpose>(first, l.nodes.count(), m, p, block, by_member, out);
    auto* after = s.make<Transpose>(first, l.nodes.count(), m, p, block, by_member, in);
    const Blocks send = node_messages(s, l, out, block);
    const Blocks recv = node_messages(s, l, in, block);
    if (before == nullptr || after == nullptr || send.empty() || recv.empty()) return;
    s.call(
        [](void* transpose) {
            static_cast<const Transpose*>(transpose)->to_node_order();
            return Err::success;
        },
        before);
    Team leaders = l.cross_node_team(t, 0);
    coll::alltoallv(c, leaders, send, recv);
    s.wait();
    s.call(
        [](void* transpose) {
            static_cast<const Transpose*>(transpose)->to_member_order();
            return Err::success;
        },
        after);
}

} // namespace

void alltoall(Collective& c, Team& t, Hierarchy& l, const void* send, void* recv, size_t block) {
    Schedule& s = c.schedule();
    const bool leads = l.local_rank() == 0;
    const size_t each = static_cast<size_t>(t.size) * block;
    std::byte* by_member = leads ? s.scratch(static_cast<size_t>(l.node.size) * each) : nullptr;
    if (leads && by_member == nullptr) return;
    if (leads) s.copy(by_member, send, each);
    coll::gather(c, l.node, send, by_member, each, 0);
    s.wait();
    if (leads) {
        exchange(c, t, l, by_member, block);
        s.copy(recv, by_member, each);
    }
    coll::scatter(c, l.node, by_member, recv, each, 0);
}

} // namespace zipmpi::proto::coll::hierarchical
