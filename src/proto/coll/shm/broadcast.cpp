// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Broadcast: the root writes, all others read. A small message is one slot of the root with its mark. A large
// one goes through all slots of the large board, piece by piece, so that readers follow the writer; then each
// byte is copied once in and once per reader out.
#include "base/param.hpp"
#include "proto/coll/shm/shm.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::proto::coll::shm {
namespace {

Param<int64_t> piece_bytes{
    "coll.broadcast_piece",
    32 * KiB,
    {64, 1 * GiB},
    Unit::bytes,
    Level::tuner,
    Scope::all_equal,
    "piece of a large broadcast after which readers may follow, where each rank has a CPU"};

struct Task {
    Board* board;
    std::byte* data;
    size_t bytes;
    int root;
    Call call;

    void run() const {
        if (bytes <= board->room())
            run_small();
        else
            run_large();
    }

    void run_small() const {
        const uint32_t op = board->begin(true, call);
        if (board->self() == root) {
            std::memcpy(board->slot(op, root), data, bytes);
            board->post(op);
        } else {
            board->await_post(op, root);
            std::memcpy(data, board->slot(op, root), bytes);
        }
    }

    void run_large() const {
        const size_t piece = board->by_marks()
                                 ? std::min(board->room(), static_cast<size_t>(piece_bytes.get()))
                                 : board->room();
        for (size_t done = 0; done < bytes;) {
            const uint32_t op = board->begin(true, call);
            for (int i = 0; i < board->members() && done < bytes; ++i) {
                const size_t n = std::min(piece, bytes - done);
                if (board->self() == root) {
                    std::memcpy(board->slot(op, i), data + done, n);
                    board->post_for(op, i);
                } else {
                    board->await_fill(op, i, root);
                    std::memcpy(data + done, board->slot(op, i), n);
                }
                done += n;
            }
        }
    }
};

} // namespace

bool broadcast(Schedule& s, Team& t, void* data, size_t bytes, int root) {
    Board* board = board_for(s, t, bytes);
    return board != nullptr && run_now(s, Task{board,
                                               static_cast<std::byte*>(data),
                                               bytes,
                                               root,
                                               {s.sequence(), Function::broadcast, bytes, root}});
}

} // namespace zipmpi::proto::coll::shm
