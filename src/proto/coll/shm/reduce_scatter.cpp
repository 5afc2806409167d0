// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reduce-scatter: every rank writes its vector, or as much of each block as fits, and combines its own block
// from the slots of all ranks, from the last rank to the first.
#include "proto/coll/shm/shm.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::proto::coll::shm {
namespace {

struct ReduceScatterTask {
    CollBuffer* buffer;
    const ReduceOp* op;
    const std::byte* input;
    std::byte* result;
    const int64_t* counts;
    int64_t longest;
    int64_t chunk; // elements of each block per operation
    CollSignature signature;

    void run() const {
        for (int64_t from = 0; from < longest; from += chunk) run_chunk(from);
    }

    [[nodiscard]] int64_t length(int rank, int64_t from) const {
        return std::clamp<int64_t>(counts[rank] - from, 0, chunk);
    }

    void run_chunk(int64_t from) const {
        const size_t element = op->element_bytes;
        const uint32_t k = buffer->begin(Leave::early, signature); // a rank with an empty block need not wait
        const int self = buffer->self();
        size_t block_offset = 0; // of the block of rank r in the vector
        size_t own_offset = 0;   // of this rank's block in a slot
        size_t at = 0;
        const std::byte* own_block = nullptr;
        for (int r = 0; r < buffer->members(); ++r) {
            const size_t bytes = static_cast<size_t>(length(r, from)) * element;
            if (r == self) own_offset = at;
            // no other rank reads it, and the result does not overwrite it
            const bool only_here = r == self && input != result;
            if (r == self) own_block = input + block_offset + static_cast<size_t>(from) * element;
            if (bytes != 0 && !only_here)
                std::memcpy(buffer->slot(k, self) + at,
                            input + block_offset + static_cast<size_t>(from) * element, bytes);
            block_offset += static_cast<size_t>(counts[r]) * element;
            at += bytes;
        }
        const int64_t n = length(self, from);
        if (n == 0) return buffer->arrive_and_leave(k);
        buffer->arrive_and_wait(k);
        std::byte* to = result + static_cast<size_t>(from) * element;
        const auto input_of = [&](int r) {
            return r == self && input != result ? own_block : buffer->slot(k, r) + own_offset;
        };
        std::memcpy(to, input_of(buffer->members() - 1), static_cast<size_t>(n) * element);
        for (int r = buffer->members() - 2; r >= 0; --r) (*op)(input_of(r), to, n);
    }
};

// Elements of each block that fit into a slot together.
int64_t elements_per_block(size_t capacity, size_t element_bytes, int ranks) {
    return static_cast<int64_t>(capacity / element_bytes) / static_cast<int64_t>(ranks);
}

} // namespace

bool can_reduce_scatter(const SelectionInput& in) {
    const size_t capacity = slot_capacity_for(in.ranks, in.size.bytes);
    return in.size.bytes <= capacity || elements_per_block(capacity, in.size.element_bytes, in.ranks) != 0;
}

bool reduce_scatter(Collective& c, Team& t, const void* input, void* result,
                    std::span<const int64_t> counts) {
    const ReduceOp& op = c.schedule().op();
    CollBuffer* buffer = coll_buffer_for(c, t, op.bytes());
    if (buffer == nullptr) return false;
    const int64_t longest = *std::max_element(counts.begin(), counts.end());
    const bool at_once = op.bytes() <= buffer->slot_capacity();
    const int64_t chunk =
        at_once ? longest : elements_per_block(buffer->slot_capacity(), op.element_bytes, t.size);
    if (!at_once && input == result) { // blocks not yet sent would be overwritten
        std::byte* copy = c.schedule().scratch(op.bytes());
        c.schedule().copy(copy, input, op.bytes());
        input = copy;
    }
    return run_task(c, ReduceScatterTask{buffer,
                                         &op,
                                         static_cast<const std::byte*>(input),
                                         static_cast<std::byte*>(result),
                                         counts.data(),
                                         longest,
                                         chunk,
                                         {c.sequence(), CollKind::reduce_scatter, op.bytes()}});
}

} // namespace zipmpi::proto::coll::shm
