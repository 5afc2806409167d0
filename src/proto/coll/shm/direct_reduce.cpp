// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Large reductions between few ranks: each combines its share, reading those of the others where they are,
// from the last rank to the first; then the shares are read where they were combined. Per rank (p - 1) n / p
// bytes read and combined, and as many read again.
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

constexpr size_t block_bytes = 32768; // combined at a time: two of them stay in the cache

struct Task {
    Board* board;
    Lane* lane;
    const Combine* op;
    const std::byte* mine;
    std::byte* result; // where this rank may write
    int root;          // -1: all get it
    std::byte* blocks; // two
    uint32_t number;

    [[nodiscard]] int64_t share(int member) const { return op->count * member / board->members(); }

    void combine_share(Direct& direct) const {
        const size_t element = op->element_bytes;
        const auto step = static_cast<int64_t>(block_bytes / element);
        const int last = board->members() - 1;
        for (int64_t at = share(board->self()); at < share(board->self() + 1); at += step) {
            const int64_t n = std::min(step, share(board->self() + 1) - at);
            const size_t offset = static_cast<size_t>(at) * element;
            const size_t bytes = static_cast<size_t>(n) * element;
            std::byte* sum = blocks;
            std::byte* next = blocks + block_bytes;
            fetch(direct, last, offset, sum, bytes);
            for (int r = last - 1; r >= 0; --r) {
                const std::byte* part = r == board->self() ? mine + offset : next;
                if (r != board->self()) direct.read(r, offset, next, bytes);
                (*op)(part, sum, n);
            }
            std::memcpy(result + offset, sum, bytes);
        }
    }

    void fetch(Direct& direct, int member, size_t offset, std::byte* to, size_t bytes) const {
        if (member == board->self())
            std::memcpy(to, mine + offset, bytes);
        else
            direct.read(member, offset, to, bytes);
    }

    [[nodiscard]] Err run() const {
        Direct direct(*board, *lane, number);
        direct.tell(mine);
        combine_share(direct);
        direct.tell(result);
        const bool gets = root < 0 || root == board->self();
        for (int r = 0; r < board->members() && gets; ++r) {
            if (r == board->self()) continue;
            const size_t from = static_cast<size_t>(share(r)) * op->element_bytes;
            const size_t to = static_cast<size_t>(share(r + 1)) * op->element_bytes;
            direct.read(r, from, result + from, to - from);
        }
        direct.end();
        return direct.failed() ? kernel_refused() : Err::success;
    }
};

} // namespace

bool direct_reduce(Schedule& s, Team& t, const void* mine, void* result, int root) {
    const Combine& op = s.operation();
    if (op.element_bytes > block_bytes) return false;
    Board* board = board_for_direct(s, t, op.bytes(), most_ranks.get());
    if (board == nullptr) return false;
    auto* where = static_cast<std::byte*>(result);
    if (root >= 0 &&
        t.rank != root) { // room for this rank's share, at its place in a vector that is not there
        const auto from = static_cast<size_t>(op.count * t.rank / t.size) * op.element_bytes;
        const auto to = static_cast<size_t>(op.count * (t.rank + 1) / t.size) * op.element_bytes;
        where = s.scratch(to - from) - from;
    }
    std::byte* blocks = s.scratch(2 * block_bytes);
    return add_step(
        s, Task{board, t.lane, &op, static_cast<const std::byte*>(mine), where, root, blocks, s.sequence()});
}

} // namespace zipmpi::proto::coll::shm
