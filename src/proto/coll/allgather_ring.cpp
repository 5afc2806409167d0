// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Ring allgather: in each of p - 1 steps every rank forwards the block it received last.
#include "proto/coll/algorithms.hpp"

namespace zipmpi::proto::coll::allgather_ring {

double cost(const CollShape& shape, const CostModel& c) {
    return (shape.ranks - 1) * (c.message + static_cast<double>(shape.bytes) * c.byte);
}

void build(Schedule& s, Team& t, Blocks all) {
    const int next = (t.rank + 1) % t.size;
    const int previous = (t.rank - 1 + t.size) % t.size;
    for (int step = 0; step < t.size - 1; ++step) {
        const int out = (t.rank - step + t.size) % t.size;
        const Block& from = all[static_cast<size_t>(out)];
        const Block& to = all[static_cast<size_t>((out - 1 + t.size) % t.size)];
        s.recv(t, to.data, to.bytes, previous);
        s.send(t, from.data, from.bytes, next);
        s.wait();
    }
}

} // namespace zipmpi::proto::coll::allgather_ring
