// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Scan by recursive doubling in ceil(log2 p) rounds: after round k each rank has combined the 2^k ranks up to
// itself.
#include "proto/coll/algorithms.hpp"

#include <utility>

namespace zipmpi::proto::coll::scan_doubling {

void build(Schedule& s, Team& t, const void* input, void* result, ScanKind kind) {
    const bool exclusive = kind == ScanKind::exclusive;
    const size_t bytes = s.op().bytes();
    const int64_t count = s.op().count;
    // including this rank; the result of an exclusive scan combines received data only
    void* sum = exclusive ? s.scratch(bytes) : result;
    std::byte* other = t.rank > 0 ? s.scratch(bytes) : nullptr;
    s.copy(sum, input, bytes);
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
