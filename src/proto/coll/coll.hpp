// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Collective operations on bytes, on the ranks of one team. Each adds its steps to the schedule of a
// collective or, if it may block, executes them in shared memory, with the algorithm that select.hpp chooses;
// the blocking variants at the end run a collective.
//
// Buffers may not overlap, except that input and result may be the same address (in place). The choice
// depends only on values that are equal on all ranks (sizes, operator, number of ranks), never on a datatype
// layout or an address.
#pragma once

#include "proto/coll/collective.hpp"

#include <span>

namespace zipmpi::proto::coll {

// Data of one rank.
struct Block {
    std::byte* data = nullptr;
    size_t bytes = 0;
};
using Blocks = std::span<const Block>; // one per rank

void barrier(Collective& c, Team& t);
void broadcast(Collective& c, Team& t, void* data, size_t bytes, int root);
// Reductions use the operator of the schedule. Contributions are combined in rank order unless the operator
// is commutative; the result is bitwise identical on all ranks.
void reduce(Collective& c, Team& t, const void* input, void* result,
            int root); // result: significant at the root
void allreduce(Collective& c, Team& t, const void* input, void* result);
void scan(Collective& c, Team& t, const void* input, void* result);
void exscan(Collective& c, Team& t, const void* input, void* result); // rank 0: result unchanged
// input: one vector, of which rank r gets a block of counts[r] elements; input and result must differ.
void reduce_scatter(Collective& c, Team& t, const void* input, void* result, std::span<const int64_t> counts);
void reduce_scatter_block(Collective& c, Team& t, const void* input, void* result, int64_t count);

// Blocks of equal size. In gather and scatter the block of the root is already in place.
void gather(Collective& c, Team& t, const void* input, void* all, size_t block, int root);
void scatter(Collective& c, Team& t, const void* all, void* output, size_t block, int root);
void allgather(Collective& c, Team& t, const void* input, void* all, size_t block);
void alltoall(Collective& c, Team& t, const void* send, void* recv,
              size_t block); // includes the rank's own block
// Blocks of different sizes; both sides of a transfer pass the size.
void gatherv(Collective& c, Team& t, Block input, Blocks all, int root); // all: significant at the root
void scatterv(Collective& c, Team& t, Blocks all, Block output, int root);
void allgatherv(Collective& c, Team& t, Blocks all); // the rank's own block is already in place
void alltoallv(Collective& c, Team& t, Blocks send, Blocks recv);

// Data to or from another rank.
struct ExchangeItem {
    int peer = 0;
    Block block;
};
using ExchangeItems = std::span<const ExchangeItem>;
// Sends and receives lists of blocks. Items between two ranks match in list order; both sides pass the size.
// All blocks from one cluster to another are aggregated into one message.
void exchange(Collective& c, Team& t, ExchangeItems out, ExchangeItems in);

// --- blocking variants
Err barrier(Team& team);
Err broadcast(Team& team, void* data, size_t bytes, int root);
// data: contribution on entry, result on return; unchanged except at the root
Err reduce(Team& team, void* data, const ReduceOp& combine, int root);
Err allreduce(Team& team, void* data, const ReduceOp& combine);
Err gather(Team& team, const void* input, void* all, size_t block, int root);
Err scatter(Team& team, const void* all, void* output, size_t block, int root);
Err allgather(Team& team, void* all, size_t block);
Err alltoall(Team& team, const void* send, void* recv, size_t block);

} // namespace zipmpi::proto::coll
