// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Binomial-tree broadcast, largest subtree first.
#include "proto/coll/algorithms.hpp"

namespace zipmpi::proto::coll::broadcast_binomial {

double cost(const CollShape& shape, const CostModel& c) {
    return rounds_of(shape.ranks) * (c.message + static_cast<double>(shape.bytes) * c.byte);
}

void build(Schedule& s, Team& t, void* data, size_t bytes, int root) {
    const int position = (t.rank - root + t.size) % t.size;
    int bit = 1;
    while (bit < t.size && (position & bit) == 0) bit *= 2;
    if (position != 0) {
        s.recv(t, data, bytes, (t.rank - bit + t.size) % t.size);
        s.wait();
    }
    for (bit /= 2; bit > 0; bit /= 2)
        if (position + bit < t.size) s.send(t, data, bytes, (t.rank + bit) % t.size);
    s.wait();
}

} // namespace zipmpi::proto::coll::broadcast_binomial
