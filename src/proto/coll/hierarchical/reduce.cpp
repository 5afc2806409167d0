// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reduction: within the nodes to their leaders, then between the leaders. Cost N + A; an allreduce adds N for
// the broadcast.
//
// Multi-leader allreduce for large vectors: a reduce-scatter within each node, concurrent allreduces of the
// shares between members of equal local rank, then an allgather within each node. Sending and reducing are
// spread over m CPUs: cost 2 N / m + A of a share, if the network sustains concurrent senders.
#include "proto/coll/hierarchical/hierarchical.hpp"

#include "proto/coll/algorithms.hpp"

namespace zipmpi::proto::coll::hierarchical {

void reduce(Collective& c, Team& t, Hierarchy& l, const void* input, void* result, int root) {
    Schedule& s = c.schedule();
    const int leader = leader_for_root(l, root);
    const bool leads = l.local_rank() == leader;
    const void* partial = input;
    if (l.node.size > 1) {
        void* sum = t.rank == root ? result : leads ? s.scratch(s.op().bytes()) : nullptr;
        coll::reduce(c, l.node, input, sum, leader);
        s.wait();
        partial = sum;
    }
    if (!leads) return;
    Team leaders = l.cross_node_team(t, 0, root);
    coll::reduce(c, leaders, partial, result, l.nodes.node_of(root));
}

void allreduce(Collective& c, Team& t, Hierarchy& l, const void* input, void* result) {
    Schedule& s = c.schedule();
    const void* partial = input;
    if (l.node.size > 1) {
        coll::reduce(c, l.node, input, result, 0);
        s.wait();
        partial = result;
    }
    if (l.local_rank() == 0) {
        Team leaders = l.cross_node_team(t, 0);
        coll::allreduce(c, leaders, partial, result);
        s.wait();
    }
    coll::broadcast(c, l.node, result, s.op().bytes(), 0);
}

void allreduce_multi_leader(Collective& c, Team& t, Hierarchy& l, const void* input, void* result) {
    Schedule& s = c.schedule();
    const ReduceOp whole = s.op();
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
    const Block& own = shares[l.local_rank()];
    std::byte* sum = s.scratch(own.bytes);
    if (sum == nullptr) return;
    coll::reduce_scatter(c, l.node, input, sum, {counts, static_cast<size_t>(m)});
    s.wait();
    ReduceOp share = whole;
    share.count = counts[l.local_rank()];
    s.set_op(share);
    Team same_local_rank = l.cross_node_team(t, l.local_rank());
    coll::allreduce(c, same_local_rank, sum, sum);
    s.set_op(whole); // the steps built for this share keep their own counts
    s.wait();
    if (whole.count % m == 0) return coll::allgather(c, l.node, sum, result, own.bytes);
    s.copy(own.data, sum, own.bytes);
    coll::allgatherv(c, l.node, {shares, static_cast<size_t>(m)});
}

} // namespace zipmpi::proto::coll::hierarchical
