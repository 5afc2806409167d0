// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Allgather: every rank writes its block, or a piece of it, and reads those of all others. Each piece is read
// by all, so the pieces of all ranks together should stay in the second cache beside what is copied out.
#include "base/param.hpp"
#include "proto/coll/shm/shm.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::proto::coll::shm {
namespace {

constexpr size_t bytes_at_a_time = 256 * KiB;
constexpr size_t least_piece = 16 * KiB;

struct Task {
    Board* board;
    const std::byte* mine;
    std::byte* all;
    size_t block;
    Call call;

    void run() const {
        const int p = board->members();
        const int self = board->self();
        const size_t piece =
            std::min(board->room(), std::max(least_piece, bytes_at_a_time / static_cast<size_t>(p)));
        for (size_t from = 0; from < block; from += piece) {
            const size_t n = std::min(piece, block - from);
            const uint32_t k = board->begin(false, call);
            std::memcpy(board->slot(k, self), mine + from, n);
            board->gate(k);
            std::byte* own = all + static_cast<size_t>(self) * block + from;
            if (own != mine + from) std::memcpy(own, mine + from, n);
            for (int i = 1; i < p; ++i) {
                const int r = (self + i) % p;
                std::memcpy(all + static_cast<size_t>(r) * block + from, board->slot(k, r), n);
            }
        }
    }
};

} // namespace

bool allgather(Schedule& s, Team& t, const void* mine, void* all, size_t block) {
    Board* board = board_for(s, t, block);
    return board != nullptr && run_now(s, Task{board,
                                               static_cast<const std::byte*>(mine),
                                               static_cast<std::byte*>(all),
                                               block,
                                               {s.sequence(), Function::allgather, block}});
}

} // namespace zipmpi::proto::coll::shm
