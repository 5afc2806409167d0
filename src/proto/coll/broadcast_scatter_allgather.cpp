// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Broadcast of large data: scatter by the root, then a ring allgather. Each rank sends about twice the data,
// independent of the number of ranks.
#include "proto/coll/algorithms.hpp"

#include <algorithm>

namespace zipmpi::proto::coll::broadcast_scatter_allgather {

double cost(const CollShape& shape, const CostModel& c) {
    const double p = shape.ranks;
    return 2 * (p - 1) * (c.message + static_cast<double>(shape.bytes) / p * c.byte);
}

void build(Schedule& s, Team& t, void* data, size_t bytes, int root) {
    auto* blocks = reinterpret_cast<Block*>(s.scratch(static_cast<size_t>(t.size) * sizeof(Block)));
    if (blocks == nullptr) return;
    const size_t share = (bytes + static_cast<size_t>(t.size) - 1) / static_cast<size_t>(t.size);
    for (int r = 0; r < t.size; ++r) {
        const size_t from = std::min(bytes, static_cast<size_t>(r) * share);
        blocks[r] = {at(data, from), std::min(share, bytes - from)};
    }
    const Blocks all(blocks, static_cast<size_t>(t.size));
    gather_linear::scatter(s, t, all, blocks[t.rank], root);
    s.wait();
    allgather_ring::build(s, t, all);
}

} // namespace zipmpi::proto::coll::broadcast_scatter_allgather
