// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Binomial-tree gather and scatter of small blocks. An inner rank stores the blocks of its subtree
// contiguously, in rank order starting at the root.
#include "proto/coll/algorithms.hpp"

#include <algorithm>

namespace zipmpi::proto::coll::gather_binomial {
namespace {

// Number of ranks in the subtree of `position` that starts at position + bit.
int subtree(int position, int bit, int size) { return std::clamp(size - position - bit, 0, bit); }

int top_bit(int position, int size) {
    int bit = 1;
    while (bit < size && (position & bit) == 0) bit *= 2;
    return bit;
}

// Copies between rank order and the order that starts at the root.
void copy_rotated(Schedule& s, const Team& t, void* to, const void* from, size_t block, int root,
                  bool to_ranks) {
    const size_t head = static_cast<size_t>(t.size - root) * block; // ranks root .. size-1
    const size_t tail = static_cast<size_t>(root) * block;
    if (to_ranks) {
        s.copy(at(to, tail), from, head);
        s.copy(to, at(from, head), tail);
    } else {
        s.copy(to, at(from, tail), head);
        s.copy(at(to, head), from, tail);
    }
}

} // namespace

double cost(const CollShape& shape, const CostModel& c) {
    const double p = shape.ranks;
    return rounds_of(shape.ranks) * c.message + 2 * (p - 1) * static_cast<double>(shape.bytes) * c.byte;
}

void gather(Schedule& s, Team& t, const void* input, void* all, size_t block, int root) {
    const int position = (t.rank - root + t.size) % t.size;
    const int top = top_bit(position, t.size);
    const int below = std::min(top, t.size - position); // ranks in the subtree, including this one
    if (below == 1) {
        s.send(t, input, block, (t.rank - top + t.size) % t.size);
        return;
    }
    std::byte* subtree_blocks = s.scratch(static_cast<size_t>(below) * block);
    if (subtree_blocks == nullptr) return;
    const bool at_root = position == 0;
    s.copy(subtree_blocks, at_root ? at(all, static_cast<size_t>(root) * block) : input, block);
    for (int bit = 1; bit < top; bit *= 2)
        if (const int n = subtree(position, bit, t.size); n > 0)
            s.recv(t, at(subtree_blocks, static_cast<size_t>(bit) * block), static_cast<size_t>(n) * block,
                   (t.rank + bit) % t.size);
    s.wait();
    if (at_root)
        copy_rotated(s, t, all, subtree_blocks, block, root, true);
    else
        s.send(t, subtree_blocks, static_cast<size_t>(below) * block, (t.rank - top + t.size) % t.size);
}

void scatter(Schedule& s, Team& t, const void* all, void* output, size_t block, int root) {
    const int position = (t.rank - root + t.size) % t.size;
    const int top = top_bit(position, t.size);
    const int below = std::min(top, t.size - position);
    if (below == 1) {
        s.recv(t, output, block, (t.rank - top + t.size) % t.size);
        return;
    }
    std::byte* subtree_blocks = s.scratch(static_cast<size_t>(below) * block);
    if (subtree_blocks == nullptr) return;
    if (position == 0)
        copy_rotated(s, t, subtree_blocks, all, block, root, false);
    else
        s.recv(t, subtree_blocks, static_cast<size_t>(below) * block, (t.rank - top + t.size) % t.size);
    s.wait();
    for (int bit = top / 2; bit > 0; bit /= 2)
        if (const int n = subtree(position, bit, t.size); n > 0)
            s.send(t, at(subtree_blocks, static_cast<size_t>(bit) * block), static_cast<size_t>(n) * block,
                   (t.rank + bit) % t.size);
    if (position != 0) s.copy(output, subtree_blocks, block);
}

} // namespace zipmpi::proto::coll::gather_binomial
