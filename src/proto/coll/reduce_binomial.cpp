// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Binomial-tree reduction. A noncommutative operator is reduced to rank 0, where subtrees are consecutive
// ranks, and the result is sent to the root.
#include "proto/coll/algorithms.hpp"

namespace zipmpi::proto::coll::reduce_binomial {
namespace {

int children_of(int position, int size) {
    int n = 0;
    for (int bit = 1; bit < size && (position & bit) == 0; bit *= 2) n += position + bit < size ? 1 : 0;
    return n;
}

// Receives from the children and combines; returns the buffer of the partial result. It is `result` if that
// is given and not the input. "in op inout" leaves the partial result in the buffer of the child's data.
const void* reduce_from_children(Schedule& s, Team& t, const void* input, void* result, int position,
                                 int top) {
    const size_t bytes = s.op().bytes();
    int left = children_of(position, t.size);
    void* buffers[2] = {result != input ? result : nullptr,
                        nullptr}; // the last child is received into buffers[0]
    const void* sum = input;
    for (int bit = 1; left > 0; bit *= 2) {
        if (position + bit >= t.size) continue;
        --left;
        void*& buffer = buffers[left % 2];
        if (buffer == nullptr) buffer = s.scratch(bytes);
        s.recv(t, buffer, bytes, (position + bit + top) % t.size);
        s.wait();
        s.combine(sum, buffer, s.op().count);
        sum = buffer;
    }
    return sum;
}

} // namespace

double cost(const CollShape& shape, const CostModel& c) {
    return rounds_of(shape.ranks) * (c.message + static_cast<double>(shape.bytes) * (c.byte + c.combine));
}

void build(Schedule& s, Team& t, const void* input, void* result, int root) {
    const size_t bytes = s.op().bytes();
    const int top = s.op().commutative ? root : 0;
    const int position = (t.rank - top + t.size) % t.size;
    const bool gets_here = t.rank == root && top == root;
    const void* sum = reduce_from_children(s, t, input, gets_here ? result : nullptr, position, top);
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
