// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reduce-scatter: every rank writes its vector, or as much of each part as fits, and combines its own part
// straight out of the slots, from the last rank to the first.
#include "proto/coll/shm/shm.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::proto::coll::shm {
namespace {

struct Task {
    Board* board;
    const Combine* op;
    const std::byte* mine;
    std::byte* result;
    const int64_t* counts;
    int64_t longest;
    int64_t piece; // elements of each part that go through the board at a time
    Call call;

    void run() const {
        for (int64_t from = 0; from < longest; from += piece) run_piece(from);
    }

    [[nodiscard]] int64_t length(int rank, int64_t from) const {
        return std::clamp<int64_t>(counts[rank] - from, 0, piece);
    }

    void run_piece(int64_t from) const {
        const size_t element = op->element_bytes;
        const uint32_t k = board->begin(true, call); // who gets nothing need not wait
        const int self = board->self();
        size_t part = 0; // where the part of a rank begins in the vector
        size_t own = 0;  // where the own part begins in a slot
        size_t at = 0;
        const std::byte* own_part = nullptr;
        for (int r = 0; r < board->members(); ++r) {
            const size_t bytes = static_cast<size_t>(length(r, from)) * element;
            if (r == self) own = at;
            const bool only_here =
                r == self && mine != result; // nobody else reads it, and it stays where it is
            if (r == self) own_part = mine + part + static_cast<size_t>(from) * element;
            if (bytes != 0 && !only_here)
                std::memcpy(board->slot(k, self) + at, mine + part + static_cast<size_t>(from) * element,
                            bytes);
            part += static_cast<size_t>(counts[r]) * element;
            at += bytes;
        }
        const int64_t n = length(self, from);
        board->come(k, n != 0);
        if (n == 0) return;
        std::byte* to = result + static_cast<size_t>(from) * element;
        const auto given = [&](int r) {
            return r == self && mine != result ? own_part : board->slot(k, r) + own;
        };
        std::memcpy(to, given(board->members() - 1), static_cast<size_t>(n) * element);
        for (int r = board->members() - 2; r >= 0; --r) (*op)(given(r), to, n);
    }
};

} // namespace

bool reduce_scatter(Schedule& s, Team& t, const void* mine, void* result, std::span<const int64_t> counts) {
    const Combine& op = s.operation();
    Board* board = board_for(s, t, op.bytes());
    if (board == nullptr) return false;
    const int64_t longest = *std::max_element(counts.begin(), counts.end());
    const bool at_once = op.bytes() <= board->room();
    const int64_t piece =
        at_once ? longest
                : static_cast<int64_t>(board->room() / op.element_bytes) / static_cast<int64_t>(t.size);
    if (piece == 0) return false;
    if (!at_once && mine == result) { // parts that are still to be sent would be overwritten
        std::byte* copy = s.scratch(op.bytes());
        s.copy(copy, mine, op.bytes());
        mine = copy;
    }
    return run_now(s, Task{board,
                           &op,
                           static_cast<const std::byte*>(mine),
                           static_cast<std::byte*>(result),
                           counts.data(),
                           longest,
                           piece,
                           {s.sequence(), Function::reduce_scatter, op.bytes()}});
}

} // namespace zipmpi::proto::coll::shm
