// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Ring allreduce of large vectors: a ring reduce-scatter of chunks, then a ring allgather. Each rank sends
// about twice the vector. The order of reduction differs between chunks but not between ranks, so the
// operator must be commutative.
#include "proto/coll/algorithms.hpp"

namespace zipmpi::proto::coll::allreduce_ring {

double cost(const CollShape& shape, const CostModel& c) {
    const double p = shape.ranks;
    const double chunk_bytes = static_cast<double>(shape.bytes) / p;
    return (p - 1) * (2 * c.message + chunk_bytes * (2 * c.byte + c.combine));
}

void build(Schedule& s, Team& t, const void* input, void* result) {
    const ReduceOp& op = s.op();
    const auto p = static_cast<int64_t>(t.size);
    const auto first = [&](int64_t chunk) { return op.count * chunk / p; };
    auto* chunks = reinterpret_cast<Block*>(s.scratch(static_cast<size_t>(p) * sizeof(Block)));
    const bool in_place =
        input == result; // else chunks are received into the result and combined with the input
    std::byte* other =
        in_place ? s.scratch(static_cast<size_t>(op.count / p + 1) * op.element_bytes) : nullptr;
    if (chunks == nullptr || (in_place && other == nullptr)) return;
    for (int64_t i = 0; i < p; ++i)
        chunks[i] = {at(result, static_cast<size_t>(first(i)) * op.element_bytes),
                     static_cast<size_t>(first(i + 1) - first(i)) * op.element_bytes};
    const auto input_chunk = [&](int64_t chunk) {
        return static_cast<const std::byte*>(input) + static_cast<size_t>(first(chunk)) * op.element_bytes;
    };
    const int next = (t.rank + 1) % t.size;
    const int previous = (t.rank - 1 + t.size) % t.size;
    for (int64_t k = 0; k < p - 1; ++k) { // the chunk that ends at rank r is chunk r
        const auto out = (t.rank - 1 - k + 2 * p) % p;
        const auto in = (out - 1 + p) % p;
        s.recv(t, in_place ? other : chunks[in].data, chunks[in].bytes, previous);
        s.send(t, k == 0 ? input_chunk(out) : chunks[out].data, chunks[out].bytes, next);
        s.wait();
        s.combine(in_place ? other : input_chunk(in), chunks[in].data, first(in + 1) - first(in));
    }
    allgather_ring::build(s, t, Blocks(chunks, static_cast<size_t>(p)));
}

} // namespace zipmpi::proto::coll::allreduce_ring
