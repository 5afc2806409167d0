// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Scan along the chain of ranks, in a fixed order. Cost (p - 1) (a + n b + n c).
#include "proto/coll/algorithms.hpp"

namespace zipmpi::proto::coll::scan_chain {

void build(Schedule& s, Team& t, const void* input, void* result, ScanKind kind) {
    const bool exclusive = kind == ScanKind::exclusive;
    const size_t bytes = s.op().bytes();
    std::byte* before = t.rank > 0 ? s.scratch(bytes) : nullptr; // scan of all lower ranks
    std::byte* sum = exclusive ? s.scratch(bytes) : nullptr;     // including this rank
    void* own = exclusive ? sum : result;
    if (t.rank > 0) s.recv(t, before, bytes, t.rank - 1);
    s.wait();
    s.copy(own, input, bytes);
    if (t.rank > 0) s.combine(before, own, s.op().count);
    if (exclusive && t.rank > 0) s.copy(result, before, bytes);
    if (t.rank + 1 < t.size) s.send(t, own, bytes, t.rank + 1);
}

} // namespace zipmpi::proto::coll::scan_chain
