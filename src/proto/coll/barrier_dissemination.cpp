// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Dissemination barrier: in round k every rank signals the rank 2^k ahead.
#include "proto/coll/algorithms.hpp"

namespace zipmpi::proto::coll::barrier_dissemination {

double cost(const CollShape& shape, const CostModel& c) { return rounds_of(shape.ranks) * c.message; }

void build(Schedule& s, Team& t) {
    for (int distance = 1; distance < t.size; distance *= 2) {
        s.recv(t, nullptr, 0, (t.rank - distance + t.size) % t.size);
        s.send(t, nullptr, 0, (t.rank + distance) % t.size);
        s.wait();
    }
}

} // namespace zipmpi::proto::coll::barrier_dissemination
