// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Collective buffer: shared memory for blocking collectives of the members of a communicator on one node
// (proto/coll/shm), in the node segment:
//
//   head | one cache line per member | `depth` banks, each with one slot per member
//
// Operation k uses bank k % depth. A slot begins with a sequence number, so that up to 56 bytes of data
// arrive with it in one cache line. A zeroed buffer with `members` set is ready for use.
#pragma once

#include "wire/ring_layout.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace zipmpi::wire {

inline constexpr uint32_t coll_buffer_max_depth = 32;
inline constexpr uint32_t coll_buffer_max_members = 10240;

struct CollBufferHead {
    struct alignas(cache_line) PaddedWord {
        std::atomic<uint32_t> value;
        std::atomic<uint32_t> signature; // in released[]: identifies the collective, to detect mismatches
    };
    PaddedWord members;                         // members still attached; the last one releases the memory
    PaddedWord arrived[coll_buffer_max_depth];  // total arrivals at operations of this bank
    PaddedWord released[coll_buffer_max_depth]; // completed operation of this bank
    // one bit per member: sleeps until an operation completes; sleeps until a bank may be written
    alignas(cache_line) std::atomic<uint64_t> sleepers[coll_buffer_max_members / 64];
    alignas(cache_line) std::atomic<uint64_t> bank_sleepers[coll_buffer_max_members / 64];
};
static_assert(sizeof(CollBufferHead) % cache_line == 0);

// Written by one member, except `awaited`.
struct alignas(cache_line) CollBufferMember {
    std::atomic<uint32_t> done;    // operations completed by this member
    std::atomic<uint32_t> awaited; // 1: another member sleeps until `done` grows
    std::atomic<uint32_t> begun;   // operation entered; maintained only if few members share a CPU
};
static_assert(sizeof(CollBufferMember) == cache_line);

struct SlotHead {
    std::atomic<uint32_t> seq;       // operation for which the slot was filled
    std::atomic<uint32_t> signature; // collective of the member, to detect mismatches
};
static_assert(sizeof(SlotHead) == 8);

struct CollBufferGeometry {
    uint32_t members = 0;
    uint32_t depth = 0;
    uint64_t slot_bytes = 0; // including head; multiple of the cache line size

    [[nodiscard]] constexpr uint64_t members_offset() const { return sizeof(CollBufferHead); }
    [[nodiscard]] constexpr uint64_t control_bytes() const {
        return members_offset() + uint64_t{members} * sizeof(CollBufferMember);
    }
    [[nodiscard]] constexpr uint64_t bank_bytes() const { return members * slot_bytes; }
    [[nodiscard]] constexpr uint64_t slot_offset(uint32_t bank, uint32_t member) const {
        return control_bytes() + bank * bank_bytes() + member * slot_bytes;
    }
    [[nodiscard]] constexpr uint64_t total_bytes() const { return control_bytes() + depth * bank_bytes(); }
};

// Allocator of collective buffers: blocks of 2^k pages in the node segment. Free blocks are linked through
// their first word. Protected by `lock`, which is held for a few instructions.
struct CollBufferPool {
    static constexpr uint32_t sizes = 32; // the smallest is one page
    std::atomic<uint32_t> lock;
    uint32_t reserved;
    uint64_t used;        // bytes allocated from the start of the area
    uint64_t free[sizes]; // offset of the first free block of each size; 0: none
};

} // namespace zipmpi::wire
