// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reduction in one fixed order, from the last rank to the first, whatever the number of ranks and their
// places: the root gets all contributions and combines them, as boards do. For results that are bitwise the
// same everywhere.
#include "proto/coll/algorithms.hpp"

namespace zipmpi::proto::coll::reduce_ordered {

double cost(const Shape& shape, const Constants& c) {
    return (shape.ranks - 1) * (c.message + static_cast<double>(shape.bytes) * (c.byte + c.combine));
}

void build(Schedule& s, Team& t, const void* mine, void* result, int root) {
    const size_t bytes = s.operation().bytes();
    if (t.rank != root) {
        s.send(t, mine, bytes, root);
        return;
    }
    const int last = t.size - 1;
    std::byte* sum = s.scratch(bytes); // the result may be the contribution
    std::byte* next = s.scratch(bytes);
    if (root == last)
        s.copy(sum, mine, bytes);
    else
        s.recv(t, sum, bytes, last);
    for (int r = last - 1; r >= 0; --r) {
        if (r != root) s.recv(t, next, bytes, r);
        s.wait();
        s.combine(r == root ? mine : next, sum, s.operation().count);
    }
    s.copy(result, sum, bytes);
}

} // namespace zipmpi::proto::coll::reduce_ordered
