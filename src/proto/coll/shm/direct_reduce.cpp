// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Large reductions between few ranks: each combines its share, reading those of the others where they are,
// from the last rank to the first; then who wants the result reads the shares where they were combined. Per
// rank (p - 1) n / p bytes read and combined, and as many read again. Of two ranks with one result the other
// one writes its share there; small ones the root combines alone.
#include "base/param.hpp"
#include "proto/coll/shm/direct.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::proto::coll::shm {
namespace {

Param<int64_t> most_ranks{"coll.direct_reduce_ranks",
                          2,
                          {0, INT32_MAX},
                          Unit::none,
                          Level::tuner,
                          Scope::all_equal,
                          "most ranks that reduce large vectors by reading from each other's memory"};

Param<int64_t> joint_min{"coll.joint_reduce_min",
                         128 * KiB,
                         {1, INT64_MAX},
                         Unit::bytes,
                         Level::tuner,
                         Scope::all_equal,
                         "shortest MPI_Reduce of two ranks of which both combine a share"};

constexpr size_t block_bytes =
    256 * KiB; // combined at a time: large for the kernel, small for the second cache

constexpr size_t alone_bytes = 2048 * KiB; // the root combines all: reading shares costs more than it gains
// Of the root, which has to read and to combine; the other one has to write as well.
constexpr double joint_share = 0.7;

struct Task {
    Board* board;
    Lane* lane;
    const Combine* op;
    const std::byte* mine;
    std::byte* result;
    int root;          // -1: all get it
    bool alone;        // the root combines everything
    bool joint;        // two ranks, the other one writes its share to the root
    std::byte* blocks; // two
    Call call;

    // Where the share of a member begins.
    [[nodiscard]] int64_t share(int member) const {
        if (!alone) return op->count * member / board->members();
        return member > root ? op->count : 0;
    }

    void combine_share(Direct& direct) const {
        const auto step = static_cast<int64_t>(block_bytes / op->element_bytes);
        const int64_t end = share(board->self() + 1);
        for (int64_t at = share(board->self()); at < end; at += step) {
            const int64_t n = std::min(step, end - at);
            if (two())
                combine_two(direct, at, n);
            else
                combine_all(direct, at, n);
        }
    }

    // Of two numbers the order does not matter if they commute, so none has to be copied first.
    [[nodiscard]] bool two() const { return board->members() == 2 && op->commutative && mine != result; }
    void combine_two(Direct& direct, int64_t at, int64_t n) const {
        const size_t offset = static_cast<size_t>(at) * op->element_bytes;
        direct.read(1 - board->self(), offset, result + offset, static_cast<size_t>(n) * op->element_bytes);
        if (ends_early() && at + n == op->count) direct.end_by(root);
        (*op)(mine + offset, result + offset, n);
    }
    // The other rank may go on when all is read, before it is combined.
    [[nodiscard]] bool ends_early() const { return alone && root == board->self() && two(); }

    void combine_all(Direct& direct, int64_t at, int64_t n) const {
        const size_t offset = static_cast<size_t>(at) * op->element_bytes;
        const size_t bytes = static_cast<size_t>(n) * op->element_bytes;
        std::byte* sum = blocks;
        std::byte* next = blocks + block_bytes;
        const int last = board->members() - 1;
        fetch(direct, last, offset, sum, bytes);
        for (int r = last - 1; r >= 0; --r) {
            const std::byte* part = r == board->self() ? mine + offset : next;
            if (r != board->self()) direct.read(r, offset, next, bytes);
            (*op)(part, sum, n);
        }
        std::memcpy(result + offset, sum, bytes);
    }

    void fetch(Direct& direct, int member, size_t offset, std::byte* to, size_t bytes) const {
        if (member == board->self())
            std::memcpy(to, mine + offset, bytes);
        else
            direct.read(member, offset, to, bytes);
    }

    void read_shares(Direct& direct) const {
        for (int r = 0; r < board->members(); ++r) {
            if (r == board->self()) continue;
            const size_t from = static_cast<size_t>(share(r)) * op->element_bytes;
            const size_t to = static_cast<size_t>(share(r + 1)) * op->element_bytes;
            direct.read(r, from, result + from, to - from);
        }
    }

    // The operation commutes: two ranks, and no matter who reads from whom.
    void combine_jointly(Direct& direct) const {
        const auto step = static_cast<int64_t>(block_bytes / op->element_bytes);
        const auto split = static_cast<int64_t>(static_cast<double>(op->count) * joint_share);
        const bool at_root = root == board->self();
        const int64_t end = at_root ? split : op->count;
        direct.tell(mine, result);
        for (int64_t at = at_root ? 0 : split; at < end; at += step) {
            const int64_t n = std::min(step, end - at);
            if (two() && at_root) {
                combine_two(direct, at, n);
                continue;
            }
            const size_t offset = static_cast<size_t>(at) * op->element_bytes;
            const size_t bytes = static_cast<size_t>(n) * op->element_bytes;
            direct.read(1 - board->self(), offset, blocks, bytes);
            (*op)(mine + offset, blocks, n);
            if (at_root)
                std::memcpy(result + offset, blocks, bytes);
            else
                direct.write(root, offset, blocks, bytes);
        }
        direct.end();
    }

    [[nodiscard]] Err run() const {
        Direct direct(*board, *lane, call);
        if (joint) {
            combine_jointly(direct);
            return direct.failed() ? kernel_refused() : Err::success;
        }
        alone ? direct.tell_to(root, mine) : direct.tell(mine);
        combine_share(direct);
        if (root < 0) {
            direct.tell(result);
            read_shares(direct);
            direct.end();
        } else {
            if (!alone) direct.tell_to(root, result);
            if (!alone && root == board->self()) read_shares(direct);
            if (!ends_early()) direct.end_by(root);
        }
        return direct.failed() ? kernel_refused() : Err::success;
    }
};

} // namespace

bool direct_reduce(Schedule& s, Team& t, const void* mine, void* result, int root) {
    const Combine& op = s.operation();
    if (op.element_bytes > block_bytes || t.size > most_ranks.get()) return false;
    Board* board = board_for_direct(s, t, op.bytes(), least_direct());
    if (board == nullptr) return false;
    const bool joint = root >= 0 && op.commutative && t.boards.get()->writes &&
                       op.bytes() >= static_cast<size_t>(joint_min.get());
    Task task{board,
              t.lane,
              &op,
              static_cast<const std::byte*>(mine),
              static_cast<std::byte*>(result),
              root,
              root >= 0 && !joint && op.bytes() <= alone_bytes,
              joint,
              nullptr,
              {s.sequence(), root < 0 ? Function::allreduce : Function::reduce, op.bytes(), root}};
    if (root >= 0 && t.rank != root && !task.alone && !task.joint) {
        // room for this rank's share, at its place in a vector that is not there
        const size_t from = static_cast<size_t>(task.share(t.rank)) * op.element_bytes;
        task.result = s.scratch(static_cast<size_t>(task.share(t.rank + 1)) * op.element_bytes - from) - from;
    }
    if (task.joint || !task.two()) task.blocks = s.scratch(2 * block_bytes);
    return run_now(s, task);
}

} // namespace zipmpi::proto::coll::shm
