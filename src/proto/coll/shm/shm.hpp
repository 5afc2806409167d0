// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives in the shared memory of a node, for collectives that may block. Each executes the collective
// and returns true, or returns false if it has no collective buffer. The result is equal on all ranks.
//
// A team has up to three collective buffers, created on first use: for tiny blocks, which fit into the cache
// line of their flag; for small ones; and for large ones, which are transferred in chunks. The first two are
// deep enough for ranks to run ahead.
#pragma once

#include "proto/coll/coll.hpp"
#include "proto/coll/selection_input.hpp"
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

// Payload bytes of a slot in the buffer for tiny blocks: with the flag in one cache line.
inline constexpr size_t tiny_slot_capacity = wire::cache_line - sizeof(wire::SlotHead);

// The collective buffer for blocks of `bytes`; null if there is none.
CollBuffer* coll_buffer_for(Collective& c, Team& t, size_t bytes);
// Payload bytes of a slot in the buffer for blocks of `bytes`, and in the buffer for large blocks.
size_t slot_capacity_for(int ranks, size_t bytes);
size_t large_slot_capacity(int ranks);

// Which calls each can execute; the others have no limits.
inline bool can_reduce(const SelectionInput& in) {
    return in.size.element_bytes <= tiny_slot_capacity ||
           in.size.element_bytes <= slot_capacity_for(in.ranks, in.size.bytes);
}
bool can_scan(const SelectionInput& in);
bool can_reduce_scatter(const SelectionInput& in);
bool can_alltoall(const SelectionInput& in);
bool can_cma_reduce(const SelectionInput& in);
bool can_cma_allreduce(const SelectionInput& in);
bool can_cma_allgather(const SelectionInput& in);
bool can_cma_alltoall(const SelectionInput& in);

bool barrier(Collective& c, Team& t);
bool broadcast(Collective& c, Team& t, void* data, size_t bytes, int root);
bool reduce(Collective& c, Team& t, const void* input, void* result, int root);
bool allreduce(Collective& c, Team& t, const void* input, void* result);
bool scan(Collective& c, Team& t, const void* input, void* result, ScanKind kind);
bool reduce_scatter(Collective& c, Team& t, const void* input, void* result, std::span<const int64_t> counts);
bool gather(Collective& c, Team& t, const void* input, void* all, size_t block, int root);
bool scatter(Collective& c, Team& t, const void* all, void* output, size_t block, int root);
bool allgather(Collective& c, Team& t, const void* input, void* all, size_t block);
bool alltoall(Collective& c, Team& t, const void* send, void* recv, size_t block);
// Single-copy variants for large blocks, by CMA (peer_memory.hpp).
bool cma_reduce(Collective& c, Team& t, const void* input, void* result, int root); // root -1: allreduce
bool cma_allgather(Collective& c, Team& t, const void* input, void* all, size_t block);
bool cma_alltoall(Collective& c, Team& t, const void* send, void* recv, size_t block);

template <class Task>
Err run_and_check(const Task& task) {
    if constexpr (std::is_same_v<decltype(task.run()), Err>) {
        if (const Err e = task.run(); e != Err::success && !task.buffer->faults().has_failed()) return e;
    } else {
        task.run();
    }
    return task.buffer->result();
}

// Runs pending steps of the collective, then the task.
template <class Task>
bool run_task(Collective& c, const Task& task) {
    if (c.run_pending()) c.record_error(run_and_check(task));
    return true;
}

} // namespace shm
} // namespace zipmpi::proto::coll
