// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Allgather of small blocks in ceil(log2 p) rounds. In each round a rank forwards all blocks it has, which
// doubles their number. Blocks are kept in rank order starting with the rank's own block.
#include "proto/coll/algorithms.hpp"

#include <algorithm>

namespace zipmpi::proto::coll::allgather_dissemination {

double cost(const CollShape& shape, const CostModel& c) {
    return rounds_of(shape.ranks) * c.message +
           3 * (shape.ranks - 1) * static_cast<double>(shape.bytes) * c.byte;
}

void build(Schedule& s, Team& t, void* all, size_t block) {
    std::byte* have = s.scratch(static_cast<size_t>(t.size) * block);
    if (have == nullptr) return;
    const size_t own = static_cast<size_t>(t.rank) * block;
    s.copy(have, at(all, own), block);
    for (int distance = 1; distance < t.size; distance *= 2) {
        const size_t bytes = static_cast<size_t>(std::min(distance, t.size - distance)) * block;
        s.recv(t, at(have, static_cast<size_t>(distance) * block), bytes, (t.rank + distance) % t.size);
        s.send(t, have, bytes, (t.rank - distance + t.size) % t.size);
        s.wait();
    }
    const size_t tail_bytes = static_cast<size_t>(t.size - t.rank) * block;
    s.copy(at(all, own), have, tail_bytes);
    s.copy(all, at(have, tail_bytes), own);
}

} // namespace zipmpi::proto::coll::allgather_dissemination
