// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Scan of small contributions: the last rank to come combines from the first rank on, each slot into the
// next.
#include "proto/coll/shm/shm.hpp"

#include <cstring>

namespace zipmpi::proto::coll::shm {
namespace {

struct Task {
    Board* board;
    const Combine* op;
    const std::byte* mine;
    std::byte* result;
    bool exclusive;
    Call call;

    void run() const {
        const uint32_t k = board->begin(false, call);
        const int self = board->self();
        std::memcpy(board->slot(k, self), mine, op->bytes());
        if (board->arrive(k)) {
            for (int r = 1; r < board->members(); ++r)
                (*op)(board->slot(k, r - 1), board->slot(k, r), op->count);
            board->release(k);
        } else {
            board->await_release(k);
        }
        board->all_came(k);
        if (!exclusive)
            std::memcpy(result, board->slot(k, self), op->bytes());
        else if (self > 0)
            std::memcpy(result, board->slot(k, self - 1), op->bytes());
    }
};

} // namespace

bool scan(Schedule& s, Team& t, const void* mine, void* result, bool exclusive) {
    Board* board = board_for(s, t, s.operation().bytes());
    return board != nullptr && s.operation().bytes() <= board->room() &&
           run_now(s, Task{board,
                           &s.operation(),
                           static_cast<const std::byte*>(mine),
                           static_cast<std::byte*>(result),
                           exclusive,
                           {s.sequence(), Function::scan, s.operation().bytes()}});
}

} // namespace zipmpi::proto::coll::shm
