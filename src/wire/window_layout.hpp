// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Shared state of an RMA window in the node segment: one block of the collective buffer memory.
//
//   one WindowMember per member on the node | posted: of each of them, one bit per member of the window |
//   one WindowRegion per member of the window
//
// A zeroed block is ready for use; the regions are written before the creation of the window ends.
#pragma once

#include "wire/ring_layout.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace zipmpi::wire {

inline constexpr uint32_t lock_slots = 64;

// Ticket lock for readers and writers (proto/rma/lock.hpp).
struct WindowLock {
    // 16 bits each: writers served, readers served, tickets issued, state of a sleeper's turn
    alignas(cache_line) std::atomic<uint64_t> tickets;
    // indexed by ticket % lock_slots: 1 + local index of the rank that waits with the ticket
    alignas(cache_line) std::atomic<uint16_t> waiters[lock_slots];
};
static_assert(sizeof(WindowLock) == 3 * cache_line);

// Ticket lock for readers and writers, operated by RDMA (proto/rma/network_lock.hpp). Only `tickets_issued`
// and, by leaving readers, `writers` are changed by atomics; other words have one writer at a time.
struct NetworkLock {
    alignas(cache_line) std::atomic<uint64_t> tickets_issued;
    std::atomic<uint64_t> writers;     // tickets released
    std::atomic<uint64_t> readers;     // ticket admitted as reader, and as writer if `writers` equals it too
    std::atomic<uint64_t> node_ticket; // 1 + ticket held by the target's node for its local lock; 0: none
    // Accessed only by CPUs of the node:
    std::atomic<uint64_t> next_ticket; // ticket of the next local rank if no remote rank has drawn one
    std::atomic<uint32_t> node_run;    // consecutive acquisitions by ranks of the node
    std::atomic<uint32_t> network_run; // consecutive requests by ranks of other nodes
};
static_assert(sizeof(NetworkLock) == cache_line && offsetof(NetworkLock, node_ticket) == 24 &&
              offsetof(NetworkLock, readers) == offsetof(NetworkLock, writers) + 8);

// Shared state of one window member, in the block of its host.
struct WindowMember {
    WindowLock lock; // MPI_Win_lock with this member as target
    // 1 + local index of the rank that executes a nonatomic accumulate on the member's memory; 0: none
    alignas(cache_line) std::atomic<uint32_t> accumulate_lock;
    // origins that have completed the member's exposure epoch
    alignas(cache_line) std::atomic<uint32_t> completed;
    std::atomic<uint32_t> fenced; // fences for which the member has received everything (multi-host windows)
    // target-assist request of an origin: offset of its AssistRequest << 16 | 1 + local index; 0: none
    std::atomic<uint64_t> assist;
    // Accessed by devices, up to the end:
    NetworkLock network_lock;
    // fence notifications of all origins so far; only devices write it (proto/rma/rdma_notices.hpp)
    alignas(cache_line) std::atomic<uint64_t> notices;
};
static_assert(sizeof(WindowMember) == 7 * cache_line &&
              offsetof(WindowMember, notices) - offsetof(WindowMember, network_lock) == cache_line);

// Target-assist request: segments of the target's private memory and their packed bytes, which the target
// moves on behalf of the origin. In shared memory of the origin (proto/rma/assist.hpp).
struct StridedRun { // segments at equal distances
    uint64_t address;
    uint64_t length; // of each
    int64_t stride;
    uint64_t count;
};
enum class AssistState : uint32_t { open, done, refused };
inline constexpr uint32_t assist_runs = 1024;
struct AssistRequest {
    alignas(cache_line) std::atomic<AssistState> state;
    uint32_t writes;         // 1: write into the segments; 0: read from them
    uint64_t packed_address; // of the packed bytes in the origin's private memory; 0: in data[]
    uint32_t bytes;          // total of all segments
    uint32_t runs;
    StridedRun run[assist_runs]; // the first is in the first cache line; most requests have one
    alignas(cache_line) std::byte data[(uint32_t{32} << 10) - cache_line];
};
static_assert(sizeof(AssistRequest) == uint64_t{64} << 10 && offsetof(AssistRequest, run) == 24);

// A member's memory region, as exchanged between members.
struct WindowRegion {
    static constexpr uint64_t dynamic_size = UINT64_MAX; // the size of a dynamic window

    uint64_t base; // address in the member's memory; in a block of its node: offset in the block
    uint64_t size;
    int64_t disp_unit;     // bytes per unit of displacement
    uint64_t arena_offset; // in the arena of `owner`, plus 1; 0: private memory
    int32_t owner;         // member
    uint32_t reserved;

    [[nodiscard]] bool is_dynamic() const { return size == dynamic_size; }
    [[nodiscard]] bool is_private() const { return arena_offset == 0 && size != 0; }
};
static_assert(sizeof(WindowRegion) == 40);

struct WindowGeometry {
    uint32_t local_members = 0; // on the node
    uint32_t members = 0;       // of the window

    [[nodiscard]] constexpr uint32_t posted_words() const { return (members + 63) / 64; }
    // std::atomic<uint64_t>[posted_words()] of a member on the node: ranks that have posted to it
    [[nodiscard]] constexpr uint64_t posted_offset(uint32_t local_member) const {
        return uint64_t{local_members} * sizeof(WindowMember) +
               uint64_t{local_member} * posted_words() * sizeof(uint64_t);
    }
    [[nodiscard]] constexpr uint64_t regions_offset() const { return posted_offset(local_members); }
    [[nodiscard]] constexpr uint64_t total_bytes() const {
        return regions_offset() + uint64_t{members} * sizeof(WindowRegion);
    }
};

} // namespace zipmpi::wire
