// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// All-to-all of small blocks: every rank writes all it sends, or as much of each block as fits, and picks
// what is for it out of the slots of the others. Each byte is copied twice, so this is for blocks that
// messages would cost more than bytes.
#include "base/param.hpp"
#include "proto/coll/shm/shm.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::proto::coll::shm {
namespace {

Param<int64_t> most_bytes{"coll.alltoall_shared_max",
                          16 * KiB,
                          {0, INT64_MAX},
                          Unit::bytes,
                          Level::tuner,
                          Scope::all_equal,
                          "largest block between two ranks that MPI_Alltoall copies through shared memory"};

// Blocks up to this size are copied all in one: leaving the own one out costs more than it takes.
constexpr size_t together = 512;

struct Task {
    Board* board;
    const std::byte* send;
    std::byte* recv;
    size_t block;
    size_t piece;
    Call call;

    void run() const {
        const int p = board->members();
        const int self = board->self();
        for (size_t from = 0; from < block; from += piece) {
            const size_t n = std::min(piece, block - from);
            const uint32_t k = board->begin(false, call);
            std::byte* out = board->slot(k, self);
            if (n == block && block <= together) {
                std::memcpy(out, send, block * static_cast<size_t>(p));
            } else {
                for (int r = 0; r < p; ++r)
                    if (r != self)
                        std::memcpy(out + static_cast<size_t>(r) * n,
                                    send + static_cast<size_t>(r) * block + from, n);
            }
            board->gate(k);
            const size_t own = static_cast<size_t>(self) * block + from;
            std::memcpy(recv + own, send + own, n);
            for (int i = 1; i < p; ++i) {
                const int r = (self + i) % p;
                std::memcpy(recv + static_cast<size_t>(r) * block + from,
                            board->slot(k, r) + static_cast<size_t>(self) * n, n);
            }
        }
    }
};

} // namespace

bool alltoall(Schedule& s, Team& t, const void* send, void* recv, size_t block) {
    if (block > static_cast<size_t>(most_bytes.get())) return false;
    const size_t total = block * static_cast<size_t>(t.size);
    Board* board = board_for(s, t, total);
    if (board == nullptr) return false;
    const size_t piece = total <= board->room() ? block : board->room() / static_cast<size_t>(t.size);
    return piece != 0 && run_now(s, Task{board,
                                         static_cast<const std::byte*>(send),
                                         static_cast<std::byte*>(recv),
                                         block,
                                         piece,
                                         {s.sequence(), Function::alltoall, block}});
}

} // namespace zipmpi::proto::coll::shm
