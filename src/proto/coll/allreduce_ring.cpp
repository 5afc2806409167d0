// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Allreduce of much data: parts go around a ring and are combined on the way, then the results go around.
// Each byte leaves a rank about twice. The order of combination differs from part to part, but not from rank
// to rank: for operations that commute.
#include "proto/coll/algorithms.hpp"

namespace zipmpi::proto::coll::allreduce_ring {

double cost(const Shape& shape, const Constants& c) {
    const double p = shape.ranks;
    const double part = static_cast<double>(shape.bytes) / p;
    return (p - 1) * (2 * c.message + part * (2 * c.byte + c.combine));
}

void build(Schedule& s, Team& t, const void* mine, void* result) {
    const Combine& op = s.operation();
    const auto p = static_cast<int64_t>(t.size);
    const auto first = [&](int64_t part) { return op.count * part / p; };
    auto* parts = reinterpret_cast<Block*>(s.scratch(static_cast<size_t>(p) * sizeof(Block)));
    const bool in_place = mine == result; // else parts are received where they go, and combined with `mine`
    std::byte* other =
        in_place ? s.scratch(static_cast<size_t>(op.count / p + 1) * op.element_bytes) : nullptr;
    if (parts == nullptr || (in_place && other == nullptr)) return;
    for (int64_t i = 0; i < p; ++i)
        parts[i] = {at(result, static_cast<size_t>(first(i)) * op.element_bytes),
                    static_cast<size_t>(first(i + 1) - first(i)) * op.element_bytes};
    const auto given = [&](int64_t part) {
        return static_cast<const std::byte*>(mine) + static_cast<size_t>(first(part)) * op.element_bytes;
    };
    const int next = (t.rank + 1) % t.size;
    const int previous = (t.rank - 1 + t.size) % t.size;
    for (int64_t k = 0; k < p - 1; ++k) { // the part that ends at rank r is part r
        const auto out = (t.rank - 1 - k + 2 * p) % p;
        const auto in = (out - 1 + p) % p;
        s.recv(t, in_place ? other : parts[in].data, parts[in].bytes, previous);
        s.send(t, k == 0 ? given(out) : parts[out].data, parts[out].bytes, next);
        s.wait();
        s.combine(in_place ? other : given(in), parts[in].data, first(in + 1) - first(in));
    }
    allgather_ring::build(s, t, Blocks(parts, static_cast<size_t>(p)));
}

} // namespace zipmpi::proto::coll::allreduce_ring
