// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Scan by doubling: after round k a rank has combined the 2^k ranks up to itself. ceil(log2 p) messages each.
#include "proto/coll/algorithms.hpp"

#include <utility>

namespace zipmpi::proto::coll::scan_doubling {

void build(Schedule& s, Team& t, const void* mine, void* result, bool exclusive) {
    const size_t bytes = s.operation().bytes();
    const int64_t count = s.operation().count;
    // of the ranks up to this one; for an exclusive scan the result is what came from others
    void* sum = exclusive ? s.scratch(bytes) : result;
    std::byte* other = t.rank > 0 ? s.scratch(bytes) : nullptr;
    s.copy(sum, mine, bytes);
    bool first = true;
    for (int distance = 1; distance < t.size; distance *= 2) {
        if (t.rank >= distance) s.recv(t, other, bytes, t.rank - distance);
        if (t.rank + distance < t.size) s.send(t, sum, bytes, t.rank + distance);
        s.wait();
        if (t.rank < distance) continue;
        s.combine(other, sum, count);
        if (!exclusive) continue;
        first ? s.copy(result, other, bytes) : s.combine(other, result, count);
        first = false;
    }
}

} // namespace zipmpi::proto::coll::scan_doubling
