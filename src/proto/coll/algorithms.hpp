// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Collective algorithms by point-to-point messages, one per file, each with its cost as a pure function.
// The tables in select_*.cpp choose among them.
#pragma once

#include "proto/coll/coll.hpp"
#include "proto/coll/cost.hpp"

namespace zipmpi::proto::coll {

inline std::byte* at(void* base, size_t offset) { return static_cast<std::byte*>(base) + offset; }
inline const std::byte* at(const void* base, size_t offset) {
    return static_cast<const std::byte*>(base) + offset;
}

// A reduction as a phase of another collective. Never uses shared memory, where it would have to block.
void reduce_by_messages(Schedule& s, Team& t, const void* input, void* result, int root);

namespace barrier_dissemination {
double cost(const CollShape& shape, const CostModel& c);
void build(Schedule& s, Team& t);
} // namespace barrier_dissemination

namespace broadcast_binomial {
double cost(const CollShape& shape, const CostModel& c);
void build(Schedule& s, Team& t, void* data, size_t bytes, int root);
} // namespace broadcast_binomial

namespace broadcast_scatter_allgather {
double cost(const CollShape& shape, const CostModel& c);
void build(Schedule& s, Team& t, void* data, size_t bytes, int root);
} // namespace broadcast_scatter_allgather

namespace broadcast_chain {
double cost(const CollShape& shape, const CostModel& c);
void build(Schedule& s, Team& t, void* data, size_t bytes, int root, const CostModel& c);
} // namespace broadcast_chain

namespace reduce_binomial {
double cost(const CollShape& shape, const CostModel& c);
void build(Schedule& s, Team& t, const void* input, void* result, int root);
} // namespace reduce_binomial

namespace reduce_ordered {
double cost(const CollShape& shape, const CostModel& c);
void build(Schedule& s, Team& t, const void* input, void* result, int root);
} // namespace reduce_ordered

namespace allreduce_doubling {
double cost(const CollShape& shape, const CostModel& c);
void build(Schedule& s, Team& t, const void* input, void* result);
} // namespace allreduce_doubling

namespace allreduce_ring { // needs a commutative operator
double cost(const CollShape& shape, const CostModel& c);
void build(Schedule& s, Team& t, const void* input, void* result);
} // namespace allreduce_ring

namespace allreduce_rabenseifner { // needs at least as many elements as ranks
double cost(const CollShape& shape, const CostModel& c);
void build(Schedule& s, Team& t, const void* input, void* result);
} // namespace allreduce_rabenseifner

namespace scan_doubling {
void build(Schedule& s, Team& t, const void* input, void* result, ScanKind kind);
} // namespace scan_doubling

namespace scan_chain {
void build(Schedule& s, Team& t, const void* input, void* result, ScanKind kind);
} // namespace scan_chain

namespace reduce_scatter_direct {
void build(Schedule& s, Team& t, const void* input, void* result, std::span<const int64_t> counts);
} // namespace reduce_scatter_direct

namespace gather_binomial {
double cost(const CollShape& shape, const CostModel& c);
void gather(Schedule& s, Team& t, const void* input, void* all, size_t block, int root);
void scatter(Schedule& s, Team& t, const void* all, void* output, size_t block, int root);
} // namespace gather_binomial

namespace gather_linear {
double cost(const CollShape& shape, const CostModel& c);
void gather(Schedule& s, Team& t, Block input, Blocks all, int root);
void scatter(Schedule& s, Team& t, Blocks all, Block output, int root);
} // namespace gather_linear

namespace allgather_dissemination {
double cost(const CollShape& shape, const CostModel& c);
void build(Schedule& s, Team& t, void* all, size_t block);
} // namespace allgather_dissemination

namespace allgather_ring {
double cost(const CollShape& shape, const CostModel& c);
void build(Schedule& s, Team& t, Blocks all);
} // namespace allgather_ring

namespace alltoall_bruck {
double cost(const CollShape& shape, const CostModel& c);
void build(Schedule& s, Team& t, const void* send, void* recv, size_t block);
} // namespace alltoall_bruck

namespace alltoall_direct {
double cost(const CollShape& shape, const CostModel& c);
void build(Schedule& s, Team& t, Blocks send, Blocks recv);
} // namespace alltoall_direct

// For a team of one member per cluster; see intercluster.cpp.
namespace intercluster {
void barrier(Schedule& s, Team& t);
void broadcast(Schedule& s, Team& t, void* data, size_t bytes, int root);
void reduce(Schedule& s, Team& t, const void* input, void* result, int root);
void allreduce(Schedule& s, Team& t, const void* input, void* result);
void exscan(Schedule& s, Team& t, const void* input, void* result); // input and result must differ
void allgatherv(Schedule& s, Team& t, Blocks all);
} // namespace intercluster

} // namespace zipmpi::proto::coll
