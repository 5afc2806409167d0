// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reduction: within the nodes to their leaders, then between them. N + A; for all, and N to tell it.
//
// A large one for all: each member of a node combines its share of the vector for the node, then the shares
// are combined across, each by the members at one place of all nodes, all at the same time; then members of a
// node gather the shares. Every member sends, so the work of sending and combining is spread over m CPUs:
// 2 N / m + A of a share, if the network takes what all send.
#include "proto/coll/two_level/two_level.hpp"

#include "proto/coll/algorithms.hpp"

namespace zipmpi::proto::coll::two_level {

void reduce(Schedule& s, Team& t, Levels& l, const void* mine, void* result, int root) {
    const int leader = leader_with(l, root);
    const bool leads = l.place() == leader;
    const void* part = mine;
    if (l.node.size > 1) {
        void* sum = t.rank == root ? result : leads ? s.scratch(s.operation().bytes()) : nullptr;
        coll::reduce(s, l.node, mine, sum, leader);
        s.wait();
        part = sum;
    }
    if (!leads) return;
    Team leaders = l.across(t, 0, root);
    coll::reduce(s, leaders, part, result, l.nodes.node_of(root));
}

void allreduce(Schedule& s, Team& t, Levels& l, const void* mine, void* result) {
    const void* part = mine;
    if (l.node.size > 1) {
        coll::reduce(s, l.node, mine, result, 0);
        s.wait();
        part = result;
    }
    if (l.place() == 0) {
        Team leaders = l.across(t, 0);
        coll::allreduce(s, leaders, part, result);
        s.wait();
    }
    coll::broadcast(s, l.node, result, s.operation().bytes(), 0);
}

void allreduce_in_shares(Schedule& s, Team& t, Levels& l, const void* mine, void* result) {
    const Combine whole = s.operation();
    const auto m = static_cast<int64_t>(l.node.size);
    auto* counts = reinterpret_cast<int64_t*>(s.scratch(static_cast<size_t>(m) * sizeof(int64_t)));
    auto* shares = reinterpret_cast<Block*>(s.scratch(static_cast<size_t>(m) * sizeof(Block)));
    if (counts == nullptr || shares == nullptr) return;
    for (int64_t i = 0; i < m; ++i) {
        const int64_t from = whole.count * i / m;
        counts[i] = whole.count * (i + 1) / m - from;
        shares[i] = {at(result, static_cast<size_t>(from) * whole.element_bytes),
                     static_cast<size_t>(counts[i]) * whole.element_bytes};
    }
    const Block& own = shares[l.place()];
    std::byte* sum = s.scratch(own.bytes);
    if (sum == nullptr) return;
    coll::reduce_scatter(s, l.node, mine, sum, {counts, static_cast<size_t>(m)});
    s.wait();
    Combine share = whole;
    share.count = counts[l.place()];
    s.use(share);
    Team same_place = l.across(t, l.place());
    coll::allreduce(s, same_place, sum, sum);
    s.use(whole); // what was built for this share has its counts in its steps
    s.wait();
    if (whole.count % m == 0) return coll::allgather(s, l.node, sum, result, own.bytes);
    s.copy(own.data, sum, own.bytes);
    coll::allgatherv(s, l.node, {shares, static_cast<size_t>(m)});
}

} // namespace zipmpi::proto::coll::two_level
