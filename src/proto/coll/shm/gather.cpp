// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Gather and scatter: every rank writes its block and the root reads, or the other way round, in pieces of
// one slot.
#include "proto/coll/shm/shm.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::proto::coll::shm {
namespace {

struct Gather {
    Board* board;
    const std::byte* mine;
    std::byte* all;
    size_t block;
    int root;
    Call call;

    void run() const {
        for (size_t from = 0; from < block; from += board->room()) {
            const size_t n = std::min(board->room(), block - from);
            const uint32_t k = board->begin(true, call);
            if (board->self() != root) std::memcpy(board->slot(k, board->self()), mine + from, n);
            board->come(k, board->self() == root);
            for (int r = 0; r < board->members() && board->self() == root; ++r)
                if (r != root) std::memcpy(all + static_cast<size_t>(r) * block + from, board->slot(k, r), n);
        }
    }
};

struct Scatter {
    Board* board;
    const std::byte* all;
    std::byte* mine;
    size_t block;
    int root;
    Call call;

    void run() const {
        for (size_t from = 0; from < block; from += board->room()) {
            const size_t n = std::min(board->room(), block - from);
            const uint32_t k = board->begin(true, call);
            if (board->self() != root) {
                board->await_fill(k, board->self(), root);
                std::memcpy(mine + from, board->slot(k, board->self()), n);
                continue;
            }
            for (int r = 0; r < board->members(); ++r) {
                if (r == root) continue;
                std::memcpy(board->slot(k, r), all + static_cast<size_t>(r) * block + from, n);
                board->fill_for(k, r);
            }
            board->post(k);
        }
    }
};

} // namespace

bool gather(Schedule& s, Team& t, const void* mine, void* all, size_t block, int root) {
    Board* board = board_for(s, t, block);
    return board != nullptr && run_now(s, Gather{board,
                                                 static_cast<const std::byte*>(mine),
                                                 static_cast<std::byte*>(all),
                                                 block,
                                                 root,
                                                 {s.sequence(), Function::gather, block, root}});
}

bool scatter(Schedule& s, Team& t, const void* all, void* mine, size_t block, int root) {
    Board* board = board_for(s, t, block);
    return board != nullptr && run_now(s, Scatter{board,
                                                  static_cast<const std::byte*>(all),
                                                  static_cast<std::byte*>(mine),
                                                  block,
                                                  root,
                                                  {s.sequence(), Function::scatter, block, root}});
}

} // namespace zipmpi::proto::coll::shm
