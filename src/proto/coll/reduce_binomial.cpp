// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reduction up a binomial tree. An operation that does not commute is reduced to rank 0, where subtrees are
// neighbouring ranks, and the result goes on to the root.
#include "proto/coll/algorithms.hpp"

namespace zipmpi::proto::coll::reduce_binomial {
namespace {

int children_of(int position, int size) {
    int n = 0;
    for (int bit = 1; bit < size && (position & bit) == 0; bit *= 2) n += position + bit < size ? 1 : 0;
    return n;
}

// Receives from the children and combines; gives back where the result is. It ends in `result` if that is
// given and not the contribution itself. "in op inout" leaves the result where the child's part was.
const void* from_children(Schedule& s, Team& t, const void* mine, void* result, int position, int top) {
    const size_t bytes = s.operation().bytes();
    int left = children_of(position, t.size);
    void* places[2] = {result != mine ? result : nullptr, nullptr}; // the last child goes to places[0]
    const void* sum = mine;
    for (int bit = 1; left > 0; bit *= 2) {
        if (position + bit >= t.size) continue;
        --left;
        void*& place = places[left % 2];
        if (place == nullptr) place = s.scratch(bytes);
        s.recv(t, place, bytes, (position + bit + top) % t.size);
        s.wait();
        s.combine(sum, place, s.operation().count);
        sum = place;
    }
    return sum;
}

} // namespace

double cost(const Shape& shape, const Constants& c) {
    return rounds_of(shape.ranks) * (c.message + static_cast<double>(shape.bytes) * (c.byte + c.combine));
}

void build(Schedule& s, Team& t, const void* mine, void* result, int root) {
    const size_t bytes = s.operation().bytes();
    const int top = s.operation().commutative ? root : 0;
    const int position = (t.rank - top + t.size) % t.size;
    const bool gets_here = t.rank == root && top == root;
    const void* sum = from_children(s, t, mine, gets_here ? result : nullptr, position, top);
    if (position != 0) {
        const int bit = position & -position;
        s.send(t, sum, bytes, (position - bit + top) % t.size);
    } else if (root != top) {
        s.send(t, sum, bytes, root);
    } else {
        s.copy(result, sum, bytes);
    }
    s.wait();
    if (t.rank == root && root != top) s.recv(t, result, bytes, top);
    s.wait();
}

} // namespace zipmpi::proto::coll::reduce_binomial
