// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Algorithm selection for collectives. Choices depend only on values that are equal on all ranks.
#include "base/param.hpp"
#include "proto/coll/algorithms.hpp"
#include "proto/coll/hierarchical/hierarchical.hpp"
#include "proto/coll/hierarchy.hpp"
#include "proto/coll/shm/shm.hpp"

#include <algorithm>

namespace zipmpi::proto::coll {
namespace {

Param<int64_t> message_ns{"coll.cost_message_ns",
                          300,
                          {0, 1000000000},
                          Unit::none,
                          Level::tuner,
                          Scope::job_wide,
                          "cost model of collectives: ns per empty message within a node"};
Param<int64_t> mib_ns{"coll.cost_mib_ns",
                      100000,
                      {0, 1000000000},
                      Unit::none,
                      Level::tuner,
                      Scope::job_wide,
                      "cost model of collectives: ns per MiB within a node"};
Param<int64_t> combine_mib_ns{"coll.cost_reduce_mib_ns",
                              100000,
                              {0, 1000000000},
                              Unit::none,
                              Level::tuner,
                              Scope::job_wide,
                              "cost model of collectives: ns to reduce 1 MiB"};

Param<int64_t> network_message_ns{"coll.cost_net_message_ns",
                                  15000,
                                  {0, 1000000000},
                                  Unit::none,
                                  Level::tuner,
                                  Scope::job_wide,
                                  "cost model of collectives: ns per empty message between nodes"};
Param<int64_t> network_mib_ns{"coll.cost_net_mib_ns",
                              700000,
                              {0, 1000000000},
                              Unit::none,
                              Level::tuner,
                              Scope::job_wide,
                              "cost model of collectives: ns per MiB between nodes"};
Param<int64_t> net_senders{"coll.cost_net_senders",
                           2,
                           {1, 1000000},
                           Unit::none,
                           Level::tuner,
                           Scope::job_wide,
                           "cost model of collectives: ranks per node that saturate the network"};

Param<bool> reproducible{
    "coll.reproducible", false, Level::user, Scope::job_wide,
    "bitwise reproducible reductions, independent of placement and algorithm; slower for nonblocking and "
    "inter-node calls"};

CollShape shape_of(const Team& t, size_t bytes) { return {t.size, bytes}; }

bool spans_nodes(Team& t) { return placement_of(t) != TeamPlacement::single_node; }

CostModel cost_model_for(Team& t) { return spans_nodes(t) ? network_cost_model() : node_cost_model(); }

// The hierarchy of a team whose nodes have consecutive ranks; else null.
Hierarchy* ordered_hierarchy_of(Team& t) {
    Hierarchy* const l = hierarchy_of(t);
    return l != nullptr && hierarchical::ranks_node_contiguous(*l) ? l : nullptr;
}

// The hierarchy that a reduction with this operator may use; else null.
Hierarchy* reduction_hierarchy_of(Team& t, const ReduceOp& op) {
    if (reproducible) return nullptr; // one order, independent of placement
    return op.commutative ? hierarchy_of(t) : ordered_hierarchy_of(t);
}

// The hierarchy of a team that spans clusters; else null.
Hierarchy* cluster_hierarchy_of(Team& t) {
    Hierarchy* const l = hierarchy_of(t);
    return l != nullptr && l->nodes_are_clusters ? l : nullptr;
}

// Between clusters latency dominates: few messages, and none that depends on another.
bool is_intercluster_team(const Team& t) { return t.scope == Team::TeamScope::across_clusters; }

// No rank forwards data between the root and other ranks.
bool is_direct_to_root(Team& t) { return is_intercluster_team(t) || cluster_hierarchy_of(t) != nullptr; }

Blocks equal_blocks(Schedule& s, const Team& t, const void* base, size_t block) {
    auto* blocks = reinterpret_cast<Block*>(s.scratch(static_cast<size_t>(t.size) * sizeof(Block)));
    if (blocks == nullptr) return {};
    for (size_t r = 0; r < static_cast<size_t>(t.size); ++r)
        blocks[r] = {at(const_cast<void*>(base), r * block), block};
    return {blocks, static_cast<size_t>(t.size)};
}

} // namespace

CostModel node_cost_model() {
    return {static_cast<double>(message_ns.get()), static_cast<double>(mib_ns.get()) / MiB,
            static_cast<double>(combine_mib_ns.get()) / MiB};
}

CostModel network_cost_model() {
    return {static_cast<double>(network_message_ns.get()), static_cast<double>(network_mib_ns.get()) / MiB,
            static_cast<double>(combine_mib_ns.get()) / MiB};
}

double network_senders() { return static_cast<double>(net_senders.get()); }

void barrier(Schedule& s, Team& t) {
    if (shm::barrier(s, t)) return;
    if (Hierarchy* l = hierarchy_of(t)) return hierarchical::barrier(s, t, *l);
    is_intercluster_team(t) ? intercluster::barrier(s, t) : barrier_dissemination::build(s, t);
}

void broadcast(Schedule& s, Team& t, void* data, size_t bytes, int root) {
    if (t.size == 1 || bytes == 0 || shm::broadcast(s, t, data, bytes, root)) return;
    if (Hierarchy* l = hierarchy_of(t)) return hierarchical::broadcast(s, t, *l, data, bytes, root);
    if (is_intercluster_team(t)) return intercluster::broadcast(s, t, data, bytes, root);
    const CollShape shape = shape_of(t, bytes);
    const CostModel c = cost_model_for(t);
    const double binomial = broadcast_binomial::cost(shape, c);
    const double scatter_allgather = broadcast_scatter_allgather::cost(shape, c);
    const double chain = spans_nodes(t) ? broadcast_chain::cost(shape, c) : binomial;
    if (chain < binomial && chain < scatter_allgather)
        broadcast_chain::build(s, t, data, bytes, root, c);
    else if (scatter_allgather < binomial)
        broadcast_scatter_allgather::build(s, t, data, bytes, root);
    else
        broadcast_binomial::build(s, t, data, bytes, root);
}

void reduce_by_messages(Schedule& s, Team& t, const void* input, void* result, int root) {
    if (reproducible)
        reduce_ordered::build(s, t, input, result, root);
    else
        reduce_binomial::build(s, t, input, result, root);
    s.wait();
}

void reduce(Schedule& s, Team& t, const void* input, void* result, int root) {
    if (s.op().bytes() == 0 || shm::cma_reduce(s, t, input, result, root) ||
        shm::reduce(s, t, input, result, root))
        return;
    if (Hierarchy* l = reduction_hierarchy_of(t, s.op()))
        return hierarchical::reduce(s, t, *l, input, result, root);
    is_intercluster_team(t) ? intercluster::reduce(s, t, input, result, root)
                            : reduce_by_messages(s, t, input, result, root);
}

namespace {

void allreduce_by_messages(Schedule& s, Team& t, const void* input, void* result) {
    if (is_intercluster_team(t)) return intercluster::allreduce(s, t, input, result);
    const ReduceOp& op = s.op();
    const CollShape shape = shape_of(t, op.bytes());
    const CostModel c = cost_model_for(t);
    const bool can_split = t.size > 1 && op.count >= t.size;
    const double doubling = allreduce_doubling::cost(shape, c);
    const double ring = can_split && op.commutative ? allreduce_ring::cost(shape, c) : doubling;
    const double halving = can_split && spans_nodes(t) ? allreduce_rabenseifner::cost(shape, c) : doubling;
    if (halving < doubling && halving <= ring)
        allreduce_rabenseifner::build(s, t, input, result);
    else if (ring < doubling)
        allreduce_ring::build(s, t, input, result);
    else
        allreduce_doubling::build(s, t, input, result);
}

} // namespace

void allreduce(Schedule& s, Team& t, const void* input, void* result) {
    const ReduceOp& op = s.op();
    if (op.bytes() == 0 || shm::cma_reduce(s, t, input, result, -1) || shm::allreduce(s, t, input, result))
        return;
    if (reproducible) {
        reduce_ordered::build(s, t, input, result, 0);
        s.wait();
        broadcast(s, t, result, op.bytes(), 0);
    } else if (Hierarchy* l = reduction_hierarchy_of(t, op)) {
        !l->nodes_are_clusters&& hierarchical::prefer_multi_leader(*l, op)
            ? hierarchical::allreduce_multi_leader(s, t, *l, input, result)
            : hierarchical::allreduce(s, t, *l, input, result);
    } else {
        allreduce_by_messages(s, t, input, result);
    }
}

namespace {

void scan_or_exscan(Schedule& s, Team& t, const void* input, void* result, bool exclusive) {
    if (s.op().bytes() == 0 || shm::scan(s, t, input, result, exclusive)) return;
    if (reproducible) return scan_chain::build(s, t, input, result, exclusive);
    if (Hierarchy* l = ordered_hierarchy_of(t)) return hierarchical::scan(s, t, *l, input, result, exclusive);
    if (exclusive && is_intercluster_team(t)) return intercluster::exscan(s, t, input, result);
    scan_doubling::build(s, t, input, result, exclusive);
}

} // namespace

void scan(Schedule& s, Team& t, const void* input, void* result) {
    scan_or_exscan(s, t, input, result, false);
}

void exscan(Schedule& s, Team& t, const void* input, void* result) {
    scan_or_exscan(s, t, input, result, true);
}

void reduce_scatter(Schedule& s, Team& t, const void* input, void* result, std::span<const int64_t> counts) {
    if (s.op().bytes() == 0 || shm::reduce_scatter(s, t, input, result, counts)) return;
    Hierarchy* const l = reduction_hierarchy_of(t, s.op());
    if (l != nullptr && (l->nodes_are_clusters || hierarchical::ranks_node_contiguous(*l)))
        return hierarchical::reduce_scatter(s, t, *l, input, result, counts);
    reduce_scatter_direct::build(s, t, input, result, counts);
}

void reduce_scatter_block(Schedule& s, Team& t, const void* input, void* result, int64_t count) {
    if (count == 0) return;
    auto* counts = reinterpret_cast<int64_t*>(s.scratch(static_cast<size_t>(t.size) * sizeof(int64_t)));
    if (counts == nullptr) return;
    std::fill_n(counts, t.size, count);
    reduce_scatter(s, t, input, result, {counts, static_cast<size_t>(t.size)});
}

void gather(Schedule& s, Team& t, const void* input, void* all, size_t block, int root) {
    if (t.size == 1 || block == 0 || shm::gather(s, t, input, all, block, root)) return;
    if (Hierarchy* l = ordered_hierarchy_of(t);
        l != nullptr && (l->nodes_are_clusters || hierarchical::prefer_hierarchical_gather(*l, t, block)))
        return hierarchical::gather(s, t, *l, input, all, block, root);
    const CollShape shape = shape_of(t, block);
    const CostModel c = cost_model_for(t);
    if (is_direct_to_root(t) || gather_linear::cost(shape, c) <= gather_binomial::cost(shape, c)) {
        const Block own{static_cast<std::byte*>(const_cast<void*>(input)), block};
        gatherv(s, t, own, t.rank == root ? equal_blocks(s, t, all, block) : Blocks{}, root);
    } else {
        gather_binomial::gather(s, t, input, all, block, root);
    }
}

void scatter(Schedule& s, Team& t, const void* all, void* output, size_t block, int root) {
    if (t.size == 1 || block == 0 || shm::scatter(s, t, all, output, block, root)) return;
    if (Hierarchy* l = ordered_hierarchy_of(t);
        l != nullptr && (l->nodes_are_clusters || hierarchical::prefer_hierarchical_gather(*l, t, block)))
        return hierarchical::scatter(s, t, *l, all, output, block, root);
    const CollShape shape = shape_of(t, block);
    const CostModel c = cost_model_for(t);
    if (is_direct_to_root(t) || gather_linear::cost(shape, c) <= gather_binomial::cost(shape, c)) {
        const Block own{static_cast<std::byte*>(output), block};
        scatterv(s, t, t.rank == root ? equal_blocks(s, t, all, block) : Blocks{}, own, root);
    } else {
        gather_binomial::scatter(s, t, all, output, block, root);
    }
}

void allgather(Schedule& s, Team& t, const void* input, void* all, size_t block) {
    if (block == 0 || shm::cma_allgather(s, t, input, all, block) || shm::allgather(s, t, input, all, block))
        return;
    if (Hierarchy* l = ordered_hierarchy_of(t)) return hierarchical::allgather(s, t, *l, input, all, block);
    s.copy(at(all, static_cast<size_t>(t.rank) * block), input, block);
    if (t.size == 1) return;
    if (Hierarchy* l = cluster_hierarchy_of(t))
        return hierarchical::allgatherv(s, t, *l, equal_blocks(s, t, all, block));
    const CollShape shape = shape_of(t, block);
    const CostModel c = cost_model_for(t);
    if (is_intercluster_team(t))
        intercluster::allgatherv(s, t, equal_blocks(s, t, all, block));
    else if (allgather_dissemination::cost(shape, c) < allgather_ring::cost(shape, c))
        allgather_dissemination::build(s, t, all, block);
    else
        allgather_ring::build(s, t, equal_blocks(s, t, all, block));
}

void alltoall(Schedule& s, Team& t, const void* send, void* recv, size_t block) {
    if (block == 0 || shm::cma_alltoall(s, t, send, recv, block) || shm::alltoall(s, t, send, recv, block))
        return;
    if (Hierarchy* l = ordered_hierarchy_of(t);
        l != nullptr && (l->nodes_are_clusters ? hierarchical::should_aggregate(block)
                                               : hierarchical::prefer_hierarchical_alltoall(*l, t, block)))
        return hierarchical::alltoall(s, t, *l, send, recv, block);
    const CollShape shape = shape_of(t, block);
    const CostModel c = cost_model_for(t);
    if (spans_nodes(t) && cluster_hierarchy_of(t) == nullptr &&
        alltoall_bruck::cost(shape, c) < alltoall_direct::cost(shape, c))
        return alltoall_bruck::build(s, t, send, recv, block);
    const Blocks out = equal_blocks(s, t, send, block);
    const Blocks in = equal_blocks(s, t, recv, block);
    if (!out.empty() && !in.empty()) alltoallv(s, t, out, in);
}

void gatherv(Schedule& s, Team& t, Block input, Blocks all, int root) {
    if (Hierarchy* l = cluster_hierarchy_of(t)) return hierarchical::gatherv(s, t, *l, input, all, root);
    gather_linear::gather(s, t, input, all, root);
}

void scatterv(Schedule& s, Team& t, Blocks all, Block output, int root) {
    if (Hierarchy* l = cluster_hierarchy_of(t)) return hierarchical::scatterv(s, t, *l, all, output, root);
    gather_linear::scatter(s, t, all, output, root);
}

void allgatherv(Schedule& s, Team& t, Blocks all) {
    if (is_intercluster_team(t)) return intercluster::allgatherv(s, t, all);
    Hierarchy* const clusters = cluster_hierarchy_of(t);
    if (Hierarchy* l = clusters != nullptr ? clusters : ordered_hierarchy_of(t))
        return hierarchical::allgatherv(s, t, *l, all);
    allgather_ring::build(s, t, all);
}

void alltoallv(Schedule& s, Team& t, Blocks send, Blocks recv) {
    if (Hierarchy* l = cluster_hierarchy_of(t)) return hierarchical::alltoallv(s, t, *l, send, recv);
    alltoall_direct::build(s, t, send, recv);
}

void exchange(Schedule& s, Team& t, ExchangeItems out, ExchangeItems in) {
    if (Hierarchy* l = cluster_hierarchy_of(t)) return hierarchical::exchange(s, t, *l, out, in);
    for (const ExchangeItem& i : in) s.recv(t, i.block.data, i.block.bytes, i.peer);
    for (const ExchangeItem& i : out) s.send(t, i.block.data, i.block.bytes, i.peer);
}

} // namespace zipmpi::proto::coll
