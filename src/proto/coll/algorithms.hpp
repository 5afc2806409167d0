// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The algorithms by point-to-point messages, one per file, each with its cost at the head of its file as a
// pure function. proto/coll/select.cpp chooses among them.
#pragma once

#include "proto/coll/coll.hpp"
#include "proto/coll/cost.hpp"

namespace zipmpi::proto::coll {

inline std::byte* at(void* base, size_t offset) { return static_cast<std::byte*>(base) + offset; }
inline const std::byte* at(const void* base, size_t offset) {
    return static_cast<const std::byte*>(base) + offset;
}

// A reduction as a part of another collective: never in shared memory, where it would have to block.
void reduce_by_messages(Schedule& s, Team& t, const void* mine, void* result, int root);

namespace barrier_dissemination {
double cost(const Shape& shape, const Constants& c);
void build(Schedule& s, Team& t);
} // namespace barrier_dissemination

namespace broadcast_binomial {
double cost(const Shape& shape, const Constants& c);
void build(Schedule& s, Team& t, void* data, size_t bytes, int root);
} // namespace broadcast_binomial

namespace broadcast_scatter_allgather {
double cost(const Shape& shape, const Constants& c);
void build(Schedule& s, Team& t, void* data, size_t bytes, int root);
} // namespace broadcast_scatter_allgather

namespace broadcast_chain {
double cost(const Shape& shape, const Constants& c);
void build(Schedule& s, Team& t, void* data, size_t bytes, int root, const Constants& c);
} // namespace broadcast_chain

namespace reduce_binomial {
double cost(const Shape& shape, const Constants& c);
void build(Schedule& s, Team& t, const void* mine, void* result, int root);
} // namespace reduce_binomial

namespace reduce_ordered {
double cost(const Shape& shape, const Constants& c);
void build(Schedule& s, Team& t, const void* mine, void* result, int root);
} // namespace reduce_ordered

namespace allreduce_doubling {
double cost(const Shape& shape, const Constants& c);
void build(Schedule& s, Team& t, const void* mine, void* result);
} // namespace allreduce_doubling

namespace allreduce_ring { // needs an operation that commutes
double cost(const Shape& shape, const Constants& c);
void build(Schedule& s, Team& t, const void* mine, void* result);
} // namespace allreduce_ring

namespace allreduce_halving { // needs at least as many elements as ranks
double cost(const Shape& shape, const Constants& c);
void build(Schedule& s, Team& t, const void* mine, void* result);
} // namespace allreduce_halving

namespace scan_doubling {
void build(Schedule& s, Team& t, const void* mine, void* result, bool exclusive);
} // namespace scan_doubling

namespace scan_chain {
void build(Schedule& s, Team& t, const void* mine, void* result, bool exclusive);
} // namespace scan_chain

namespace reduce_scatter_direct {
void build(Schedule& s, Team& t, const void* mine, void* result, std::span<const int64_t> counts);
} // namespace reduce_scatter_direct

namespace gather_binomial {
double cost(const Shape& shape, const Constants& c);
void gather(Schedule& s, Team& t, const void* mine, void* all, size_t block, int root);
void scatter(Schedule& s, Team& t, const void* all, void* mine, size_t block, int root);
} // namespace gather_binomial

namespace gather_linear {
double cost(const Shape& shape, const Constants& c);
void gather(Schedule& s, Team& t, Block mine, Blocks all, int root);
void scatter(Schedule& s, Team& t, Blocks all, Block mine, int root);
} // namespace gather_linear

namespace allgather_dissemination {
double cost(const Shape& shape, const Constants& c);
void build(Schedule& s, Team& t, void* all, size_t block);
} // namespace allgather_dissemination

namespace allgather_ring {
double cost(const Shape& shape, const Constants& c);
void build(Schedule& s, Team& t, Blocks all);
} // namespace allgather_ring

namespace alltoall_bruck {
double cost(const Shape& shape, const Constants& c);
void build(Schedule& s, Team& t, const void* send, void* recv, size_t block);
} // namespace alltoall_bruck

namespace alltoall_direct {
double cost(const Shape& shape, const Constants& c);
void build(Schedule& s, Team& t, Blocks send, Blocks recv);
} // namespace alltoall_direct

// Of a team of one member per cluster; see between_clusters.cpp.
namespace between_clusters {
void barrier(Schedule& s, Team& t);
void broadcast(Schedule& s, Team& t, void* data, size_t bytes, int root);
void reduce(Schedule& s, Team& t, const void* mine, void* result, int root);
void allreduce(Schedule& s, Team& t, const void* mine, void* result);
void exscan(Schedule& s, Team& t, const void* mine, void* result); // mine and result are different
void allgatherv(Schedule& s, Team& t, Blocks all);
} // namespace between_clusters

} // namespace zipmpi::proto::coll
