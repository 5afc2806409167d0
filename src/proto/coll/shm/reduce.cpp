// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reductions. Contributions are combined from the last rank to the first, "in op inout" each, so that the
// order of ranks is kept and the result does not depend on who combines.
//
// Small: every rank writes its contribution. With marks each rank combines for itself; with counters the last
// one to come does it for all, so that nobody is woken before the result is there.
// Large, in pieces of one slot at most: every rank writes its piece, then combines its share of the piece of
// all ranks, then reads the result. While a piece is combined the next one is written.
#include "base/param.hpp"
#include "proto/coll/shm/shm.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::proto::coll::shm {
namespace {

Param<int64_t> shared_min{
    "coll.shared_combining_min",
    48 * KiB,
    {1, INT64_MAX},
    Unit::bytes,
    Level::tuner,
    Scope::all_equal,
    "shortest MPI_Allreduce of ranks that take turns on the CPUs in which all combine a "
    "share instead of the last one to come all: one more switch between them"};

// What is combined at a time stays in the first cache.
constexpr size_t block_bytes = 8192;

struct Task {
    Board* board;
    const Combine* op;
    const std::byte* mine;
    std::byte* result;
    int root; // -1: all get it
    Call call;

    [[nodiscard]] bool gets() const { return root < 0 || board->self() == root; }
    void run() const {
        if (op->bytes() > board->room() || combining_is_shared())
            run_large();
        else
            root >= 0 ? run_rooted() : run_small();
    }

    [[nodiscard]] bool combining_is_shared() const {
        return root < 0 && !board->by_marks() && op->bytes() >= static_cast<size_t>(shared_min.get());
    }

    // Combines elements [from, to) of all slots into the last one's.
    void combine_in_board(uint32_t k, int64_t from, int64_t to) const {
        const int last = board->members() - 1;
        const auto step = static_cast<int64_t>(std::max<size_t>(1, block_bytes / op->element_bytes));
        for (int64_t at = from; at < to; at += step) {
            const int64_t n = std::min(step, to - at);
            const size_t offset = static_cast<size_t>(at) * op->element_bytes;
            for (int r = last - 1; r >= 0; --r)
                (*op)(board->slot(k, r) + offset, board->slot(k, last) + offset, n);
        }
    }

    // The own contribution, which need not be written to the board if nobody else reads it there; unless it
    // lies where the result goes.
    [[nodiscard]] bool reads_own() const {
        return root == board->self() && (mine != result || root == board->members() - 1);
    }

    // The same into the result of this rank.
    void combine_here(uint32_t k) const {
        for (int r = board->members() - 1; r >= 0; --r) {
            if (board->by_marks() && r != board->self()) board->await_post(k, r);
            const std::byte* part = r == board->self() && reads_own() ? mine : board->slot(k, r);
            if (r != board->members() - 1)
                (*op)(part, result, op->count);
            else if (part != result)
                std::memcpy(result, part, op->bytes());
        }
    }

    void run_small() const {
        const uint32_t k = board->begin(false, call);
        write(k, 0, op->count);
        if (board->by_marks()) {
            board->post(k);
            combine_here(k);
            board->all_came(k);
        } else {
            if (board->arrive(k)) {
                combine_in_board(k, 0, op->count);
                board->release(k);
            } else {
                board->await_release(k);
            }
            board->all_came(k);
            std::memcpy(result, board->slot(k, board->members() - 1), op->bytes());
        }
    }

    // The root combines, the others go on when their contribution is written.
    void run_rooted() const {
        const uint32_t k = board->begin(true, call);
        if (!reads_own()) write(k, 0, op->count);
        if (!board->by_marks()) board->come(k, gets());
        if (board->by_marks() && !gets()) board->post(k);
        if (gets()) combine_here(k);
    }

    void run_large() const {
        const int64_t piece = static_cast<int64_t>(board->room() / op->element_bytes);
        const auto length = [&](int64_t from) { return std::min(piece, op->count - from); };
        const int p = board->members();
        uint32_t k = board->begin(false, call);
        write(k, 0, length(0));
        board->gate(k, 1);
        for (int64_t from = 0; from < op->count; from += piece) {
            const int64_t n = length(from);
            combine_in_board(k, n * board->self() / p, n * (board->self() + 1) / p);
            const int64_t next = from + piece;
            const uint32_t k_next = board->begin(next >= op->count && root >= 0, call, 1);
            if (next < op->count) write(k_next, next, length(next));
            if (next >= op->count && root >= 0)
                board->come(k_next, board->self() == root);
            else
                board->gate(k_next, 1);
            if (gets())
                std::memcpy(result + static_cast<size_t>(from) * op->element_bytes, board->slot(k, p - 1),
                            static_cast<size_t>(n) * op->element_bytes);
            k = k_next;
        }
    }

    void write(uint32_t k, int64_t from, int64_t n) const {
        std::memcpy(board->slot(k, board->self()), mine + static_cast<size_t>(from) * op->element_bytes,
                    static_cast<size_t>(n) * op->element_bytes);
    }
};

bool add(Schedule& s, Team& t, const void* mine, void* result, int root) {
    Board* board = board_for(s, t, s.operation().bytes());
    return board != nullptr && s.operation().element_bytes <= board->room() &&
           run_now(s, Task{board,
                           &s.operation(),
                           static_cast<const std::byte*>(mine),
                           static_cast<std::byte*>(result),
                           root,
                           {s.sequence(), root < 0 ? Function::allreduce : Function::reduce,
                            s.operation().bytes(), root}});
}

} // namespace

bool reduce(Schedule& s, Team& t, const void* mine, void* result, int root) {
    return add(s, t, mine, result, root);
}

bool allreduce(Schedule& s, Team& t, const void* mine, void* result) { return add(s, t, mine, result, -1); }

} // namespace zipmpi::proto::coll::shm
