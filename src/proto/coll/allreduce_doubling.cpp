// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Allreduce by recursive doubling. If the number of ranks is not a power of two, the first ranks form pairs
// whose odd rank is folded into the even one, so that every step combines adjacent ranges of ranks.
#include "proto/coll/algorithms.hpp"

#include <utility>

namespace zipmpi::proto::coll::allreduce_doubling {

double cost(const CollShape& shape, const CostModel& c) {
    const double folded = std::has_single_bit(static_cast<unsigned>(shape.ranks)) ? 0 : 2;
    return (rounds_of(shape.ranks) + folded) *
           (c.message + static_cast<double>(shape.bytes) * (c.byte + c.combine));
}

namespace {

// The partial result and the buffer of the next receive. "in op inout" leaves the partial result in place if
// the received operand is on the left, else in the receive buffer, and the two buffers swap. The number of
// swaps is fixed in advance, so build() chooses the initial buffers such that the last one is the result.
struct DoublingResult {
    Schedule& s;
    const void* partial;
    void* copy_target; // where `partial` is copied before it is modified; null: already writable
    void* recv_buffer;

    // Waits for the messages of a round and combines.
    void combine(bool other_is_left) {
        const int64_t count = s.op().count;
        if (other_is_left && copy_target != nullptr) s.copy(copy_target, partial, s.op().bytes());
        s.wait();
        if (other_is_left) {
            if (copy_target != nullptr) partial = std::exchange(copy_target, nullptr);
            s.combine(recv_buffer, const_cast<void*>(partial), count);
        } else {
            s.combine(partial, recv_buffer, count);
            void* const left =
                copy_target != nullptr ? std::exchange(copy_target, nullptr) : const_cast<void*>(partial);
            partial = std::exchange(recv_buffer, left);
        }
    }
};

} // namespace

void build(Schedule& s, Team& t, const void* input, void* result) {
    const size_t bytes = s.op().bytes();
    if (t.size == 1) return s.copy(result, input, bytes);
    const int core = static_cast<int>(std::bit_floor(static_cast<unsigned>(t.size)));
    const int paired = 2 * (t.size - core); // ranks below this form pairs
    if (t.rank < paired && t.rank % 2 == 1) {
        s.send(t, input, bytes, t.rank - 1);
        s.wait();
        s.recv(t, result, bytes, t.rank - 1);
        return;
    }
    const bool folds = t.rank < paired; // the next rank is folded into this one
    const int position = folds ? t.rank / 2 : t.rank - paired / 2;
    const int rounds = std::bit_width(static_cast<unsigned>(core)) - 1;
    // rounds in which the received operand is on the right, so that the partial result moves
    const int moves = rounds - std::popcount(static_cast<unsigned>(position)) + (folds ? 1 : 0);
    const bool first_moves = folds || position % 2 == 0;
    void* const spare = s.scratch(bytes);
    DoublingResult sum{s, input, nullptr, spare};
    if (input != result) {
        const bool even_moves = (moves - (first_moves ? 1 : 0)) % 2 == 0;
        void* const first = even_moves ? result : spare;
        void* const second = even_moves ? spare : result;
        sum.copy_target = first_moves ? second : first;
        sum.recv_buffer = first_moves ? first : second;
    }
    if (folds) {
        s.recv(t, sum.recv_buffer, bytes, t.rank + 1);
        sum.combine(false);
    }
    for (int bit = 1; bit < core; bit *= 2) {
        const int partner_position = position ^ bit;
        const int partner =
            partner_position < paired / 2 ? 2 * partner_position : partner_position + paired / 2;
        s.recv(t, sum.recv_buffer, bytes, partner);
        s.send(t, sum.partial, bytes, partner);
        sum.combine(partner < t.rank);
    }
    if (folds) s.send(t, sum.partial, bytes, t.rank + 1);
    s.wait();
    s.copy(result, sum.partial, bytes); // no-op unless in place
}

} // namespace zipmpi::proto::coll::allreduce_doubling
