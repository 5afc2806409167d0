// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives in the shared memory of a node, for schedules that may block. Each executes the collective and
// returns true, or returns false and the caller uses messages. The result is equal on all ranks.
//
// A team has up to three collective buffers, created on first use: for tiny blocks, which fit into the cache
// line of their flag; for small ones; and for large ones, which are transferred in chunks. The first two are
// deep enough for ranks to run ahead.
#pragma once

#include "proto/coll/coll.hpp"
#include "proto/coll/shm/coll_buffer.hpp"

#include <memory>

namespace zipmpi::proto::coll {

class TeamCollBuffers {
  public:
    std::unique_ptr<CollBuffer> buffers[3]; // for tiny, small and large blocks
    bool attempted[3] = {};
    enum { unknown, allowed, denied } peer_access = unknown; // CMA reads between all members
    bool can_write = false;                                  // two members: CMA writes work, too
};

namespace shm {

// The collective buffer for blocks of `bytes`; null if there is none.
CollBuffer* coll_buffer_for(Schedule& s, Team& t, size_t bytes);
// Payload bytes of a slot in the buffer for large blocks.
size_t large_slot_capacity(const Team& t);

bool barrier(Schedule& s, Team& t);
bool broadcast(Schedule& s, Team& t, void* data, size_t bytes, int root);
bool reduce(Schedule& s, Team& t, const void* input, void* result, int root);
bool allreduce(Schedule& s, Team& t, const void* input, void* result);
bool scan(Schedule& s, Team& t, const void* input, void* result, bool exclusive);
bool reduce_scatter(Schedule& s, Team& t, const void* input, void* result, std::span<const int64_t> counts);
bool gather(Schedule& s, Team& t, const void* input, void* all, size_t block, int root);
bool scatter(Schedule& s, Team& t, const void* all, void* output, size_t block, int root);
bool allgather(Schedule& s, Team& t, const void* input, void* all, size_t block);
bool alltoall(Schedule& s, Team& t, const void* send, void* recv, size_t block);
// Single-copy variants for large blocks, by CMA (peer_memory.hpp).
bool cma_reduce(Schedule& s, Team& t, const void* input, void* result, int root); // root -1: allreduce
bool cma_allgather(Schedule& s, Team& t, const void* input, void* all, size_t block);
bool cma_alltoall(Schedule& s, Team& t, const void* send, void* recv, size_t block);

template <class Task>
Err run_and_check(const Task& task) {
    if constexpr (std::is_same_v<decltype(task.run()), Err>) {
        if (const Err e = task.run(); e != Err::success && !task.buffer->has_failed()) return e;
    } else {
        task.run();
    }
    return task.buffer->result();
}

// Runs pending steps of the schedule, then the task.
template <class Task>
bool run_task(Schedule& s, const Task& task) {
    if (s.run_pending()) s.record_error(run_and_check(task));
    return true;
}

} // namespace shm
} // namespace zipmpi::proto::coll
