// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Hierarchical collectives, for teams with several nodes and more than one rank on at least one of them. Each
// consists of collectives within the nodes and between the node leaders, one member per node; select.hpp
// chooses their algorithms. The root of a collective is the leader of its node.
//
// Costs: N is the cost of an intra-node phase, A that of an inter-node phase, each with the algorithm that
// select.hpp chooses; m ranks per node, n nodes, p ranks.
#pragma once

#include "proto/coll/coll.hpp"
#include "proto/coll/cost.hpp"
#include "proto/coll/hierarchy.hpp"

namespace zipmpi::proto::coll::hierarchical {

void barrier(Collective& c, Team& t, Hierarchy& l);
void broadcast(Collective& c, Team& t, Hierarchy& l, void* data, size_t bytes, int root);

// Contiguous nodes or a commutative operator:
void reduce(Collective& c, Team& t, Hierarchy& l, const void* input, void* result, int root);
void allreduce(Collective& c, Team& t, Hierarchy& l, const void* input, void* result);
// Every member is the leader of its share of the vector. All nodes must have equally many members.
void allreduce_multi_leader(Collective& c, Team& t, Hierarchy& l, const void* input, void* result);

// Any order; nodes are clusters. See exchange.cpp.
void exchange(Collective& c, Team& t, Hierarchy& l, ExchangeItems out, ExchangeItems in);
void gatherv(Collective& c, Team& t, Hierarchy& l, Block input, Blocks all, int root);
void scatterv(Collective& c, Team& t, Hierarchy& l, Blocks all, Block output, int root);
void alltoallv(Collective& c, Team& t, Hierarchy& l, Blocks send, Blocks recv);
// Whether blocks of this size are aggregated.
bool should_aggregate(size_t block);

// Any order:
void allgatherv(Collective& c, Team& t, Hierarchy& l, Blocks all);

// Contiguous nodes or a commutative operator:
void reduce_scatter(Collective& c, Team& t, Hierarchy& l, const void* input, void* result,
                    std::span<const int64_t> counts);

// Contiguous nodes:
void scan(Collective& c, Team& t, Hierarchy& l, const void* input, void* result, ScanKind kind);
void gather(Collective& c, Team& t, Hierarchy& l, const void* input, void* all, size_t block, int root);
void scatter(Collective& c, Team& t, Hierarchy& l, const void* all, void* output, size_t block, int root);
void allgather(Collective& c, Team& t, Hierarchy& l, const void* input, void* all, size_t block);
void alltoall(Collective& c, Team& t, Hierarchy& l, const void* send, void* recv, size_t block);

// Cost decisions (cost.cpp): an allreduce with several leaders instead of one; hierarchical instead of flat
// gather, scatter and all-to-all.
bool prefer_multi_leader(const Hierarchy& l, int64_t count, size_t bytes);
bool prefer_hierarchical_gather(const Hierarchy& l, int ranks, size_t block);
bool prefer_hierarchical_alltoall(const Hierarchy& l, int ranks, size_t block);

// Local rank of the leader of this node in a rooted collective.
inline int leader_for_root(const Hierarchy& l, int root) {
    return l.nodes.node_of(root) == l.my_node ? l.nodes.local_rank_of(root) : 0;
}

} // namespace zipmpi::proto::coll::hierarchical
