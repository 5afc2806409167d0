// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Broadcast of much data: the root hands every rank one part, and the parts go around a ring. Each byte
// leaves a rank about twice, whatever the number of ranks.
#include "proto/coll/algorithms.hpp"

#include <algorithm>

namespace zipmpi::proto::coll::broadcast_scatter_allgather {

double cost(const Shape& shape, const Constants& c) {
    const double p = shape.ranks;
    return 2 * (p - 1) * (c.message + static_cast<double>(shape.bytes) / p * c.byte);
}

void build(Schedule& s, Team& t, void* data, size_t bytes, int root) {
    auto* parts = reinterpret_cast<Block*>(s.scratch(static_cast<size_t>(t.size) * sizeof(Block)));
    if (parts == nullptr) return;
    const size_t share = (bytes + static_cast<size_t>(t.size) - 1) / static_cast<size_t>(t.size);
    for (int r = 0; r < t.size; ++r) {
        const size_t from = std::min(bytes, static_cast<size_t>(r) * share);
        parts[r] = {at(data, from), std::min(share, bytes - from)};
    }
    const Blocks all(parts, static_cast<size_t>(t.size));
    gather_linear::scatter(s, t, all, parts[t.rank], root);
    s.wait();
    allgather_ring::build(s, t, all);
}

} // namespace zipmpi::proto::coll::broadcast_scatter_allgather
