// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives in the memory that the ranks of a node share, for schedules that may block. Each adds its step
// and returns true, or returns false: the caller takes an algorithm by messages. The answer is the same on
// all ranks.
//
// A team has up to three boards, made on first use: for blocks that fit into the line of their mark and for
// small ones, with room to run ahead, and for large ones, which go through in pieces.
#pragma once

#include "proto/coll/coll.hpp"
#include "proto/coll/shm/board.hpp"

#include <memory>

namespace zipmpi::proto::coll {

class Boards {
  public:
    std::unique_ptr<Board> board[3]; // for tiny, small and large blocks
    bool tried[3] = {};
    enum { unknown, works, refused } direct = unknown; // reading from each other's memory
    bool writes = false;                               // two members: they may write there, too
};

namespace shm {

// The board for blocks of so many bytes; null: there is none.
Board* board_for(Schedule& s, Team& t, size_t bytes);
// What goes through a slot of the board for large blocks at once.
size_t large_room(const Team& t);

bool barrier(Schedule& s, Team& t);
bool broadcast(Schedule& s, Team& t, void* data, size_t bytes, int root);
bool reduce(Schedule& s, Team& t, const void* mine, void* result, int root);
bool allreduce(Schedule& s, Team& t, const void* mine, void* result);
bool scan(Schedule& s, Team& t, const void* mine, void* result, bool exclusive);
bool reduce_scatter(Schedule& s, Team& t, const void* mine, void* result, std::span<const int64_t> counts);
bool gather(Schedule& s, Team& t, const void* mine, void* all, size_t block, int root);
bool scatter(Schedule& s, Team& t, const void* all, void* mine, size_t block, int root);
bool allgather(Schedule& s, Team& t, const void* mine, void* all, size_t block);
bool alltoall(Schedule& s, Team& t, const void* send, void* recv, size_t block);
// The same for large blocks, read straight from where they are (direct.hpp).
bool direct_reduce(Schedule& s, Team& t, const void* mine, void* result, int root); // root -1: all get it
bool direct_allgather(Schedule& s, Team& t, const void* mine, void* all, size_t block);
bool direct_alltoall(Schedule& s, Team& t, const void* send, void* recv, size_t block);

template <class Task>
Err run_task(const Task& task) {
    if constexpr (std::is_same_v<decltype(task.run()), Err>) {
        if (const Err e = task.run(); e != Err::success && !task.board->broken()) return e;
    } else {
        task.run();
    }
    return task.board->result();
}

// Has a collective run on a board: at once.
template <class Task>
bool run_now(Schedule& s, const Task& task) {
    if (s.settle()) s.record(run_task(task));
    return true;
}

} // namespace shm
} // namespace zipmpi::proto::coll
