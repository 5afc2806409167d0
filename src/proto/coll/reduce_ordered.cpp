// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reduction in a fixed order, from the last rank to the first, independent of placement: the root receives
// and combines all contributions. Matches the order of the shared-memory reductions, for bitwise
// reproducible results.
#include "proto/coll/algorithms.hpp"

namespace zipmpi::proto::coll::reduce_ordered {

double cost(const CollShape& shape, const CostModel& c) {
    return (shape.ranks - 1) * (c.message + static_cast<double>(shape.bytes) * (c.byte + c.combine));
}

void build(Schedule& s, Team& t, const void* input, void* result, int root) {
    const size_t bytes = s.op().bytes();
    if (t.rank != root) {
        s.send(t, input, bytes, root);
        return;
    }
    const int last = t.size - 1;
    std::byte* sum = s.scratch(bytes); // the result may alias the input
    std::byte* next = s.scratch(bytes);
    if (root == last)
        s.copy(sum, input, bytes);
    else
        s.recv(t, sum, bytes, last);
    for (int r = last - 1; r >= 0; --r) {
        if (r != root) s.recv(t, next, bytes, r);
        s.wait();
        s.combine(r == root ? input : next, sum, s.op().count);
    }
    s.copy(result, sum, bytes);
}

} // namespace zipmpi::proto::coll::reduce_ordered
