// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Collective operations on bytes, on the ranks of one team. Each adds its steps to a schedule, with the
// algorithm that proto/coll/select.cpp chooses; the short forms at the end build a schedule and wait for it.
//
// Buffers may not overlap, except where the contribution and the result are the same address: in place. What
// decides the choice (sizes, operation, number of ranks) must be the same on all ranks, so no layout of a
// datatype and no address may be part of it.
#pragma once

#include "proto/coll/schedule.hpp"

#include <span>

namespace zipmpi::proto::coll {

// The bytes that belong to one rank.
struct Block {
    std::byte* data = nullptr;
    size_t bytes = 0;
};
using Blocks = std::span<const Block>; // one per rank

void barrier(Schedule& s, Team& t);
void broadcast(Schedule& s, Team& t, void* data, size_t bytes, int root);
// With the operation that the schedule uses. Contributions are combined in the order of ranks unless it
// commutes; the result is bitwise the same on all ranks.
void reduce(Schedule& s, Team& t, const void* mine, void* result, int root); // result: at the root
void allreduce(Schedule& s, Team& t, const void* mine, void* result);
void scan(Schedule& s, Team& t, const void* mine, void* result);
void exscan(Schedule& s, Team& t, const void* mine, void* result); // rank 0: result untouched
// mine: one vector; rank r gets the part of counts[r] elements. mine and result are different.
void reduce_scatter(Schedule& s, Team& t, const void* mine, void* result, std::span<const int64_t> counts);
void reduce_scatter_block(Schedule& s, Team& t, const void* mine, void* result, int64_t count);

// The root's own block is in place already. Same size on all ranks:
void gather(Schedule& s, Team& t, const void* mine, void* all, size_t block, int root);
void scatter(Schedule& s, Team& t, const void* all, void* mine, size_t block, int root);
void allgather(Schedule& s, Team& t, const void* mine, void* all, size_t block);
void alltoall(Schedule& s, Team& t, const void* send, void* recv, size_t block); // own block included
// Different sizes, known to the ranks concerned:
void gatherv(Schedule& s, Team& t, Block mine, Blocks all, int root); // all: at the root
void scatterv(Schedule& s, Team& t, Blocks all, Block mine, int root);
void allgatherv(Schedule& s, Team& t, Blocks all); // own block is in place already
void alltoallv(Schedule& s, Team& t, Blocks send, Blocks recv);

// Bytes for another rank, or from one.
struct Item {
    int peer = 0;
    Block block;
};
using Items = std::span<const Item>;
// What ranks have for each other, by pairs in the order of the lists on both sides, who know the sizes.
// Between clusters one message carries all from one to another.
void exchange(Schedule& s, Team& t, Items out, Items in);

// --- on a team, now
Err barrier(Team& team);
Err broadcast(Team& team, void* data, size_t bytes, int root);
// data: own contribution in, result out at the root, untouched elsewhere
Err reduce(Team& team, void* data, const Combine& combine, int root);
Err allreduce(Team& team, void* data, const Combine& combine);
Err gather(Team& team, const void* mine, void* all, size_t block, int root);
Err scatter(Team& team, const void* all, void* mine, size_t block, int root);
Err allgather(Team& team, void* all, size_t block);
Err alltoall(Team& team, const void* send, void* recv, size_t block);

} // namespace zipmpi::proto::coll
