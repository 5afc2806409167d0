// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The one place where algorithms are chosen. What a choice depends on is the same on all ranks.
#include "base/param.hpp"
#include "proto/coll/algorithms.hpp"
#include "proto/coll/levels.hpp"
#include "proto/coll/shm/shm.hpp"
#include "proto/coll/two_level/two_level.hpp"

#include <algorithm>

namespace zipmpi::proto::coll {
namespace {

Param<int64_t> message_ns{"coll.message_ns",
                          300,
                          {0, 1000000000},
                          Unit::none,
                          Level::tuner,
                          Scope::all_equal,
                          "cost model of collectives: nanoseconds for one message of no bytes"};
Param<int64_t> mib_ns{"coll.mib_ns",
                      100000,
                      {0, 1000000000},
                      Unit::none,
                      Level::tuner,
                      Scope::all_equal,
                      "cost model of collectives: nanoseconds for each MiB of a message"};
Param<int64_t> combine_mib_ns{"coll.combine_mib_ns",
                              100000,
                              {0, 1000000000},
                              Unit::none,
                              Level::tuner,
                              Scope::all_equal,
                              "cost model of collectives: nanoseconds for each MiB that is combined"};

Param<int64_t> network_message_ns{
    "coll.network_message_ns",
    15000,
    {0, 1000000000},
    Unit::none,
    Level::tuner,
    Scope::all_equal,
    "cost model of collectives: nanoseconds for one message of no bytes to another node"};
Param<int64_t> network_mib_ns{
    "coll.network_mib_ns",
    700000,
    {0, 1000000000},
    Unit::none,
    Level::tuner,
    Scope::all_equal,
    "cost model of collectives: nanoseconds for each MiB of a message to another node"};
Param<int64_t> streams{"coll.network_streams",
                       2,
                       {1, 1000000},
                       Unit::none,
                       Level::tuner,
                       Scope::all_equal,
                       "cost model of collectives: ranks of a node that send at the same time before the "
                       "network is full"};

Param<bool> reproducible{
    "coll.reproducible", false, Level::user, Scope::all_equal,
    "results of reductions do not depend on placement or algorithm: always combined in the "
    "order of ranks, one by one. Costs nothing where ranks share memory and the call "
    "blocks; else one rank does all the work, p - 1 messages instead of log2 p rounds"};

Shape shape_of(const Team& t, size_t bytes) { return {t.size, bytes}; }

bool across_nodes(Team& t) { return spread_of(t) != Spread::one_node; }

Constants constants_for(Team& t) { return across_nodes(t) ? network_constants() : node_constants(); }

// The levels of a team whose ranks, node by node, are in order; else null.
Levels* ordered_levels_of(Team& t) {
    Levels* const l = levels_of(t);
    return l != nullptr && two_level::in_order(*l) ? l : nullptr;
}

// The levels on which this operation may be combined.
Levels* reducing_levels_of(Team& t, const Combine& op) {
    if (reproducible) return nullptr; // one order for all placements
    return op.commutative ? levels_of(t) : ordered_levels_of(t);
}

// The levels of a team in several clusters; else null.
Levels* clusters_of(Team& t) {
    Levels* const l = levels_of(t);
    return l != nullptr && l->clusters ? l : nullptr;
}

// Between clusters a message costs far more than its bytes: few, and no one after another.
bool leads_clusters(const Team& t) { return t.part == Team::Part::across_clusters; }

// No rank passes on what others have for the root, or it for others.
bool straight_to_root(Team& t) { return leads_clusters(t) || clusters_of(t) != nullptr; }

Blocks equal_blocks(Schedule& s, const Team& t, const void* base, size_t block) {
    auto* blocks = reinterpret_cast<Block*>(s.scratch(static_cast<size_t>(t.size) * sizeof(Block)));
    if (blocks == nullptr) return {};
    for (size_t r = 0; r < static_cast<size_t>(t.size); ++r)
        blocks[r] = {at(const_cast<void*>(base), r * block), block};
    return {blocks, static_cast<size_t>(t.size)};
}

} // namespace

Constants node_constants() {
    return {static_cast<double>(message_ns.get()), static_cast<double>(mib_ns.get()) / MiB,
            static_cast<double>(combine_mib_ns.get()) / MiB};
}

Constants network_constants() {
    return {static_cast<double>(network_message_ns.get()), static_cast<double>(network_mib_ns.get()) / MiB,
            static_cast<double>(combine_mib_ns.get()) / MiB};
}

double network_streams() { return static_cast<double>(streams.get()); }

void barrier(Schedule& s, Team& t) {
    if (shm::barrier(s, t)) return;
    if (Levels* l = levels_of(t)) return two_level::barrier(s, t, *l);
    leads_clusters(t) ? between_clusters::barrier(s, t) : barrier_dissemination::build(s, t);
}

void broadcast(Schedule& s, Team& t, void* data, size_t bytes, int root) {
    if (t.size == 1 || bytes == 0 || shm::broadcast(s, t, data, bytes, root)) return;
    if (Levels* l = levels_of(t)) return two_level::broadcast(s, t, *l, data, bytes, root);
    if (leads_clusters(t)) return between_clusters::broadcast(s, t, data, bytes, root);
    const Shape shape = shape_of(t, bytes);
    const Constants c = constants_for(t);
    const double binomial = broadcast_binomial::cost(shape, c);
    const double parts = broadcast_scatter_allgather::cost(shape, c);
    const double chain = across_nodes(t) ? broadcast_chain::cost(shape, c) : binomial;
    if (chain < binomial && chain < parts)
        broadcast_chain::build(s, t, data, bytes, root, c);
    else if (parts < binomial)
        broadcast_scatter_allgather::build(s, t, data, bytes, root);
    else
        broadcast_binomial::build(s, t, data, bytes, root);
}

void reduce_by_messages(Schedule& s, Team& t, const void* mine, void* result, int root) {
    if (reproducible)
        reduce_ordered::build(s, t, mine, result, root);
    else
        reduce_binomial::build(s, t, mine, result, root);
    s.wait();
}

void reduce(Schedule& s, Team& t, const void* mine, void* result, int root) {
    if (s.operation().bytes() == 0 || shm::direct_reduce(s, t, mine, result, root) ||
        shm::reduce(s, t, mine, result, root))
        return;
    if (Levels* l = reducing_levels_of(t, s.operation()))
        return two_level::reduce(s, t, *l, mine, result, root);
    leads_clusters(t) ? between_clusters::reduce(s, t, mine, result, root)
                      : reduce_by_messages(s, t, mine, result, root);
}

namespace {

void allreduce_by_messages(Schedule& s, Team& t, const void* mine, void* result) {
    if (leads_clusters(t)) return between_clusters::allreduce(s, t, mine, result);
    const Combine& op = s.operation();
    const Shape shape = shape_of(t, op.bytes());
    const Constants c = constants_for(t);
    const bool in_parts = t.size > 1 && op.count >= t.size;
    const double doubling = allreduce_doubling::cost(shape, c);
    const double ring = in_parts && op.commutative ? allreduce_ring::cost(shape, c) : doubling;
    const double halving = in_parts && across_nodes(t) ? allreduce_halving::cost(shape, c) : doubling;
    if (halving < doubling && halving <= ring)
        allreduce_halving::build(s, t, mine, result);
    else if (ring < doubling)
        allreduce_ring::build(s, t, mine, result);
    else
        allreduce_doubling::build(s, t, mine, result);
}

} // namespace

void allreduce(Schedule& s, Team& t, const void* mine, void* result) {
    const Combine& op = s.operation();
    if (op.bytes() == 0 || shm::direct_reduce(s, t, mine, result, -1) || shm::allreduce(s, t, mine, result))
        return;
    if (reproducible) {
        reduce_ordered::build(s, t, mine, result, 0);
        s.wait();
        broadcast(s, t, result, op.bytes(), 0);
    } else if (Levels* l = reducing_levels_of(t, op)) {
        !l->clusters&& two_level::shares_are_cheaper(*l, op)
            ? two_level::allreduce_in_shares(s, t, *l, mine, result)
            : two_level::allreduce(s, t, *l, mine, result);
    } else {
        allreduce_by_messages(s, t, mine, result);
    }
}

namespace {

void scan_either(Schedule& s, Team& t, const void* mine, void* result, bool exclusive) {
    if (s.operation().bytes() == 0 || shm::scan(s, t, mine, result, exclusive)) return;
    if (reproducible) return scan_chain::build(s, t, mine, result, exclusive);
    if (Levels* l = ordered_levels_of(t)) return two_level::scan(s, t, *l, mine, result, exclusive);
    if (exclusive && leads_clusters(t)) return between_clusters::exscan(s, t, mine, result);
    scan_doubling::build(s, t, mine, result, exclusive);
}

} // namespace

void scan(Schedule& s, Team& t, const void* mine, void* result) { scan_either(s, t, mine, result, false); }

void exscan(Schedule& s, Team& t, const void* mine, void* result) { scan_either(s, t, mine, result, true); }

void reduce_scatter(Schedule& s, Team& t, const void* mine, void* result, std::span<const int64_t> counts) {
    if (s.operation().bytes() == 0 || shm::reduce_scatter(s, t, mine, result, counts)) return;
    Levels* const l = reducing_levels_of(t, s.operation());
    if (l != nullptr && (l->clusters || two_level::in_order(*l)))
        return two_level::reduce_scatter(s, t, *l, mine, result, counts);
    reduce_scatter_direct::build(s, t, mine, result, counts);
}

void reduce_scatter_block(Schedule& s, Team& t, const void* mine, void* result, int64_t count) {
    if (count == 0) return;
    auto* counts = reinterpret_cast<int64_t*>(s.scratch(static_cast<size_t>(t.size) * sizeof(int64_t)));
    if (counts == nullptr) return;
    std::fill_n(counts, t.size, count);
    reduce_scatter(s, t, mine, result, {counts, static_cast<size_t>(t.size)});
}

void gather(Schedule& s, Team& t, const void* mine, void* all, size_t block, int root) {
    if (t.size == 1 || block == 0 || shm::gather(s, t, mine, all, block, root)) return;
    if (Levels* l = ordered_levels_of(t);
        l != nullptr && (l->clusters || two_level::bundles_are_cheaper(*l, t, block)))
        return two_level::gather(s, t, *l, mine, all, block, root);
    const Shape shape = shape_of(t, block);
    const Constants c = constants_for(t);
    if (straight_to_root(t) || gather_linear::cost(shape, c) <= gather_binomial::cost(shape, c)) {
        const Block own{static_cast<std::byte*>(const_cast<void*>(mine)), block};
        gatherv(s, t, own, t.rank == root ? equal_blocks(s, t, all, block) : Blocks{}, root);
    } else {
        gather_binomial::gather(s, t, mine, all, block, root);
    }
}

void scatter(Schedule& s, Team& t, const void* all, void* mine, size_t block, int root) {
    if (t.size == 1 || block == 0 || shm::scatter(s, t, all, mine, block, root)) return;
    if (Levels* l = ordered_levels_of(t);
        l != nullptr && (l->clusters || two_level::bundles_are_cheaper(*l, t, block)))
        return two_level::scatter(s, t, *l, all, mine, block, root);
    const Shape shape = shape_of(t, block);
    const Constants c = constants_for(t);
    if (straight_to_root(t) || gather_linear::cost(shape, c) <= gather_binomial::cost(shape, c)) {
        const Block own{static_cast<std::byte*>(mine), block};
        scatterv(s, t, t.rank == root ? equal_blocks(s, t, all, block) : Blocks{}, own, root);
    } else {
        gather_binomial::scatter(s, t, all, mine, block, root);
    }
}

void allgather(Schedule& s, Team& t, const void* mine, void* all, size_t block) {
    if (block == 0 || shm::direct_allgather(s, t, mine, all, block) || shm::allgather(s, t, mine, all, block))
        return;
    if (Levels* l = ordered_levels_of(t)) return two_level::allgather(s, t, *l, mine, all, block);
    s.copy(at(all, static_cast<size_t>(t.rank) * block), mine, block);
    if (t.size == 1) return;
    if (Levels* l = clusters_of(t)) return two_level::allgatherv(s, t, *l, equal_blocks(s, t, all, block));
    const Shape shape = shape_of(t, block);
    const Constants c = constants_for(t);
    if (leads_clusters(t))
        between_clusters::allgatherv(s, t, equal_blocks(s, t, all, block));
    else if (allgather_dissemination::cost(shape, c) < allgather_ring::cost(shape, c))
        allgather_dissemination::build(s, t, all, block);
    else
        allgather_ring::build(s, t, equal_blocks(s, t, all, block));
}

void alltoall(Schedule& s, Team& t, const void* send, void* recv, size_t block) {
    if (block == 0 || shm::direct_alltoall(s, t, send, recv, block) || shm::alltoall(s, t, send, recv, block))
        return;
    if (Levels* l = ordered_levels_of(t);
        l != nullptr &&
        (l->clusters ? two_level::are_bundled(block) : two_level::exchange_is_cheaper(*l, t, block)))
        return two_level::alltoall(s, t, *l, send, recv, block);
    const Shape shape = shape_of(t, block);
    const Constants c = constants_for(t);
    if (across_nodes(t) && clusters_of(t) == nullptr &&
        alltoall_bruck::cost(shape, c) < alltoall_direct::cost(shape, c))
        return alltoall_bruck::build(s, t, send, recv, block);
    const Blocks out = equal_blocks(s, t, send, block);
    const Blocks in = equal_blocks(s, t, recv, block);
    if (!out.empty() && !in.empty()) alltoallv(s, t, out, in);
}

void gatherv(Schedule& s, Team& t, Block mine, Blocks all, int root) {
    if (Levels* l = clusters_of(t)) return two_level::gatherv(s, t, *l, mine, all, root);
    gather_linear::gather(s, t, mine, all, root);
}

void scatterv(Schedule& s, Team& t, Blocks all, Block mine, int root) {
    if (Levels* l = clusters_of(t)) return two_level::scatterv(s, t, *l, all, mine, root);
    gather_linear::scatter(s, t, all, mine, root);
}

void allgatherv(Schedule& s, Team& t, Blocks all) {
    if (leads_clusters(t)) return between_clusters::allgatherv(s, t, all);
    Levels* const clusters = clusters_of(t);
    if (Levels* l = clusters != nullptr ? clusters : ordered_levels_of(t))
        return two_level::allgatherv(s, t, *l, all);
    allgather_ring::build(s, t, all);
}

void alltoallv(Schedule& s, Team& t, Blocks send, Blocks recv) {
    if (Levels* l = clusters_of(t)) return two_level::alltoallv(s, t, *l, send, recv);
    alltoall_direct::build(s, t, send, recv);
}

void exchange(Schedule& s, Team& t, Items out, Items in) {
    if (Levels* l = clusters_of(t)) return two_level::exchange(s, t, *l, out, in);
    for (const Item& i : in) s.recv(t, i.block.data, i.block.bytes, i.peer);
    for (const Item& i : out) s.send(t, i.block.data, i.block.bytes, i.peer);
}

} // namespace zipmpi::proto::coll
