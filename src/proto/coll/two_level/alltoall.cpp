// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// All-to-all of small blocks: leaders collect all that their node sends, exchange one message per pair of
// nodes, and hand out what came. 2 N of m p blocks + A of m m blocks, and two copies: n - 1 messages leave a
// node instead of m (p - m).
#include "proto/coll/two_level/two_level.hpp"

#include "proto/coll/algorithms.hpp"

#include <cstring>

namespace zipmpi::proto::coll::two_level {
namespace {

// The leader's copies between the order of ranks and the order of messages.
struct Sorting {
    const int* first; // by node: its first rank; and one more
    int nodes;
    size_t m;
    size_t p;
    size_t block;
    std::byte* by_member; // for each member of this node one block per rank
    std::byte* by_node;   // for each node what goes there, or comes from there

    // To node B: for each member of this node, the blocks of all members of B.
    void sort_out() const {
        std::byte* to = by_node;
        for (int b = 0; b < nodes; ++b) {
            const auto from = static_cast<size_t>(first[b]);
            const size_t bytes = static_cast<size_t>(first[b + 1] - first[b]) * block;
            for (size_t i = 0; i < m; ++i, to += bytes)
                std::memcpy(to, by_member + (i * p + from) * block, bytes);
        }
    }
    // From node B: for each member of B, the blocks of all members of this node.
    void sort_in() const {
        const std::byte* from = by_node;
        for (size_t r = 0; r < p; ++r)
            for (size_t i = 0; i < m; ++i, from += block)
                std::memcpy(by_member + (i * p + r) * block, from, block);
    }
};

Blocks messages(Schedule& s, const Levels& l, std::byte* base, size_t block) {
    const auto n = static_cast<size_t>(l.nodes.count());
    auto* blocks = reinterpret_cast<Block*>(s.scratch(n * sizeof(Block)));
    if (blocks == nullptr) return {};
    for (int i = 0; i < l.nodes.count(); ++i) {
        const size_t to_each = static_cast<size_t>(l.node.size) * block;
        blocks[i] = {base + static_cast<size_t>(l.nodes.first(i)) * to_each,
                     static_cast<size_t>(l.nodes.size_of(i)) * to_each};
    }
    return {blocks, n};
}

// Between what the members of this node send and what they get.
void exchange(Schedule& s, Team& t, const Levels& l, std::byte* by_member, size_t block) {
    const auto m = static_cast<size_t>(l.node.size);
    const auto p = static_cast<size_t>(t.size);
    const auto n = static_cast<size_t>(l.nodes.count());
    std::byte* out = s.scratch(m * p * block);
    std::byte* in = s.scratch(m * p * block);
    auto* first = reinterpret_cast<int*>(s.scratch((n + 1) * sizeof(int)));
    if (out == nullptr || in == nullptr || first == nullptr) return;
    for (size_t i = 0; i <= n; ++i) first[i] = l.nodes.first(static_cast<int>(i));
    auto* before = s.make<Sorting>(first, l.nodes.count(), m, p, block, by_member, out);
    auto* after = s.make<Sorting>(first, l.nodes.count(), m, p, block, by_member, in);
    const Blocks send = messages(s, l, out, block);
    const Blocks recv = messages(s, l, in, block);
    if (before == nullptr || after == nullptr || send.empty() || recv.empty()) return;
    s.call(
        [](void* sorting) {
            static_cast<const Sorting*>(sorting)->sort_out();
            return Err::success;
        },
        before);
    Team leaders = l.across(t, 0);
    coll::alltoallv(s, leaders, send, recv);
    s.wait();
    s.call(
        [](void* sorting) {
            static_cast<const Sorting*>(sorting)->sort_in();
            return Err::success;
        },
        after);
}

} // namespace

void alltoall(Schedule& s, Team& t, Levels& l, const void* send, void* recv, size_t block) {
    const bool leads = l.place() == 0;
    const size_t each = static_cast<size_t>(t.size) * block;
    std::byte* by_member = leads ? s.scratch(static_cast<size_t>(l.node.size) * each) : nullptr;
    if (leads && by_member == nullptr) return;
    if (leads) s.copy(by_member, send, each);
    coll::gather(s, l.node, send, by_member, each, 0);
    s.wait();
    if (leads) {
        exchange(s, t, l, by_member, block);
        s.copy(recv, by_member, each);
    }
    coll::scatter(s, l.node, by_member, recv, each, 0);
}

} // namespace zipmpi::proto::coll::two_level
