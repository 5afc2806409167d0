// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Broadcast of much data along the chain of ranks from the root on, in pieces: each rank passes a piece on
// while the next one comes. With k pieces (p - 2 + k) (a + n b / k); the best k is the root of
// (p - 2) n b / a.
#include "proto/coll/algorithms.hpp"

#include <algorithm>
#include <cmath>

namespace zipmpi::proto::coll::broadcast_chain {
namespace {

constexpr double most_pieces = 128;

size_t pieces_of(const Shape& shape, const Constants& c) {
    const double best =
        std::sqrt((shape.ranks - 2) * static_cast<double>(shape.bytes) * c.byte / std::max(c.message, 1.0));
    return static_cast<size_t>(std::clamp(std::round(best), 1.0, most_pieces));
}

} // namespace

double cost(const Shape& shape, const Constants& c) {
    const auto k = static_cast<double>(pieces_of(shape, c));
    return (shape.ranks - 2 + k) * (c.message + static_cast<double>(shape.bytes) * c.byte / k);
}

void build(Schedule& s, Team& t, void* data, size_t bytes, int root, const Constants& c) {
    const size_t pieces = std::min(bytes, pieces_of({t.size, bytes}, c));
    const int position = (t.rank - root + t.size) % t.size;
    const auto begin = [&](size_t piece) { return bytes / pieces * piece + std::min(piece, bytes % pieces); };
    for (size_t i = 0; i <= pieces; ++i) {
        if (i < pieces && position > 0)
            s.recv(t, at(data, begin(i)), begin(i + 1) - begin(i), (t.rank - 1 + t.size) % t.size);
        if (i > 0 && position < t.size - 1)
            s.send(t, at(data, begin(i - 1)), begin(i) - begin(i - 1), (t.rank + 1) % t.size);
        if (position > 0) s.wait();
    }
    s.wait();
}

} // namespace zipmpi::proto::coll::broadcast_chain
