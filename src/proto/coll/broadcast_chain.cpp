// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Pipelined broadcast of large data along the chain of ranks starting at the root: each rank forwards a
// segment while it receives the next one. Cost with k segments (p - 2 + k) (a + n b / k); the best k is
// sqrt((p - 2) n b / a).
#include "proto/coll/algorithms.hpp"

#include <algorithm>
#include <cmath>

namespace zipmpi::proto::coll::broadcast_chain {
namespace {

constexpr double max_segments = 128;

size_t segment_count(const CollShape& shape, const CostModel& c) {
    const int forwarding = std::max(shape.ranks - 2, 0);
    const double best =
        std::sqrt(forwarding * static_cast<double>(shape.bytes) * c.byte / std::max(c.message, 1.0));
    return static_cast<size_t>(std::clamp(std::round(best), 1.0, max_segments));
}

} // namespace

double cost(const CollShape& shape, const CostModel& c) {
    const auto k = static_cast<double>(segment_count(shape, c));
    return (shape.ranks - 2 + k) * (c.message + static_cast<double>(shape.bytes) * c.byte / k);
}

void build(Schedule& s, Team& t, void* data, size_t bytes, int root, const CostModel& c) {
    const size_t segments = std::min(bytes, segment_count({t.size, bytes}, c));
    const int position = (t.rank - root + t.size) % t.size;
    const auto begin = [&](size_t segment) {
        return bytes / segments * segment + std::min(segment, bytes % segments);
    };
    for (size_t i = 0; i <= segments; ++i) {
        if (i < segments && position > 0)
            s.recv(t, at(data, begin(i)), begin(i + 1) - begin(i), (t.rank - 1 + t.size) % t.size);
        if (i > 0 && position < t.size - 1)
            s.send(t, at(data, begin(i - 1)), begin(i) - begin(i - 1), (t.rank + 1) % t.size);
        if (position > 0) s.wait();
    }
    s.wait();
}

} // namespace zipmpi::proto::coll::broadcast_chain
