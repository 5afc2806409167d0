// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives on two levels, of ranks on several nodes of which some have more than one. Each is made of
// collectives within the nodes and between one member of each node, its leader; select.cpp chooses how those
// are done. With a root, the root is its node's leader.
//
// Costs: N is the cost of a phase within a node, A that of a phase across, each as select.cpp finds it for
// that team; m ranks on a node, n nodes.
#pragma once

#include "proto/coll/coll.hpp"
#include "proto/coll/cost.hpp"
#include "proto/coll/levels.hpp"

namespace zipmpi::proto::coll::two_level {

// Whether ranks, taken node by node, are in order: what collectives with a block per rank need, and
// operations that do not commute.
inline bool in_order(const Levels& l) { return l.nodes.grouped(); }

void barrier(Schedule& s, Team& t, Levels& l);
void broadcast(Schedule& s, Team& t, Levels& l, void* data, size_t bytes, int root);

// In order, or the operation commutes:
void reduce(Schedule& s, Team& t, Levels& l, const void* mine, void* result, int root);
void allreduce(Schedule& s, Team& t, Levels& l, const void* mine, void* result);
// Every member leads with its share of the vector. All nodes have as many members.
void allreduce_in_shares(Schedule& s, Team& t, Levels& l, const void* mine, void* result);

// Any order; of clusters. See exchange.cpp.
void exchange(Schedule& s, Team& t, Levels& l, Items out, Items in);
void gatherv(Schedule& s, Team& t, Levels& l, Block mine, Blocks all, int root);
void scatterv(Schedule& s, Team& t, Levels& l, Blocks all, Block mine, int root);
void alltoallv(Schedule& s, Team& t, Levels& l, Blocks send, Blocks recv);
// Whether blocks of this size share messages.
bool are_bundled(size_t block);

// Any order:
void allgatherv(Schedule& s, Team& t, Levels& l, Blocks all);

// In order, or the operation commutes:
void reduce_scatter(Schedule& s, Team& t, Levels& l, const void* mine, void* result,
                    std::span<const int64_t> counts);

// In order:
void scan(Schedule& s, Team& t, Levels& l, const void* mine, void* result, bool exclusive);
void gather(Schedule& s, Team& t, Levels& l, const void* mine, void* all, size_t block, int root);
void scatter(Schedule& s, Team& t, Levels& l, const void* all, void* mine, size_t block, int root);
void allgather(Schedule& s, Team& t, Levels& l, const void* mine, void* all, size_t block);
void alltoall(Schedule& s, Team& t, Levels& l, const void* send, void* recv, size_t block);

// Whether it is cheaper so (cost.cpp): an allreduce in shares than by one leader; a gather or scatter, or an
// all-to-all, on two levels than straight between the ranks.
bool shares_are_cheaper(const Levels& l, const Combine& op);
bool bundles_are_cheaper(const Levels& l, const Team& t, size_t block);
bool exchange_is_cheaper(const Levels& l, const Team& t, size_t block);

// Who leads the node of this member if the collective has a root: a place on the node.
inline int leader_with(const Levels& l, int root) {
    return l.nodes.node_of(root) == l.my_node ? l.nodes.place_of(root) : 0;
}

} // namespace zipmpi::proto::coll::two_level
