// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Barrier: one gate. With marks every rank fetches p - 1 lines; with counters one line per rank goes over
// twice.
#include "proto/coll/shm/shm.hpp"

namespace zipmpi::proto::coll::shm {
namespace {

struct Task {
    Board* board;
    Call call;
    void run() const { board->gate(board->begin(false, call)); }
};

} // namespace

bool barrier(Schedule& s, Team& t) {
    Board* board = board_for(s, t, 0);
    return board != nullptr && run_now(s, Task{board, {s.sequence(), Function::barrier, 0}});
}

} // namespace zipmpi::proto::coll::shm
