// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A board: shared memory in which the members of a communicator on one node work together in collectives
// (proto/coll/shm). It lies in the node segment:
//
//   head | one line per member | parts, `depth` of them, each with one slot per member
//
// Operation k uses part k % depth. A slot begins with a mark, so that up to 56 bytes arrive with it in one
// line. A board of zeros, members set, is ready for use.
#pragma once

#include "wire/shm_layout.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace zipmpi::wire {

inline constexpr uint32_t board_max_depth = 32;
inline constexpr uint32_t board_max_members = 4096;

struct BoardHead {
    struct alignas(line_size) Word {
        std::atomic<uint32_t> value;
        std::atomic<uint32_t> what; // released: which collective it was, for comparison
    };
    Word members;                   // that have not left; the last one gives the memory back
    Word arrived[board_max_depth];  // members that have come to operations of this part, ever
    Word released[board_max_depth]; // the operation of this part that is complete
    // one bit per member: who sleeps until an operation is complete, and who until a part may be written
    alignas(line_size) std::atomic<uint64_t> sleepers[board_max_members / 64];
    alignas(line_size) std::atomic<uint64_t> room_sleepers[board_max_members / 64];
};
static_assert(sizeof(BoardHead) % line_size == 0);

// Written by one member, except `awaited`.
struct alignas(line_size) BoardMember {
    std::atomic<uint32_t> done;    // operations it is through with
    std::atomic<uint32_t> awaited; // 1: some member sleeps until `done` grows
    std::atomic<uint32_t> begun;   // operation it has come to; kept where few members share a CPU
};
static_assert(sizeof(BoardMember) == line_size);

struct SlotHead {
    std::atomic<uint32_t> mark; // the operation that the slot has been filled for
    std::atomic<uint32_t> what; // written by its member: what it takes part in, to be compared by others
};
static_assert(sizeof(SlotHead) == 8);

struct BoardGeometry {
    uint32_t members = 0;
    uint32_t depth = 0;
    uint64_t slot_bytes = 0; // with its head, a multiple of the line size

    [[nodiscard]] constexpr uint64_t members_offset() const { return sizeof(BoardHead); }
    [[nodiscard]] constexpr uint64_t control_bytes() const {
        return members_offset() + uint64_t{members} * sizeof(BoardMember);
    }
    [[nodiscard]] constexpr uint64_t part_bytes() const { return members * slot_bytes; }
    [[nodiscard]] constexpr uint64_t slot_offset(uint32_t part, uint32_t member) const {
        return control_bytes() + part * part_bytes() + member * slot_bytes;
    }
    [[nodiscard]] constexpr uint64_t total_bytes() const { return control_bytes() + depth * part_bytes(); }
};

// Where boards get their memory from: blocks of whole pages in sizes of powers of two, at the end of the node
// segment. Free ones are chained through their first word. Guarded by `lock`, held for a few instructions.
struct BoardArea {
    static constexpr uint32_t sizes = 32; // the smallest is one page
    std::atomic<uint32_t> lock;
    uint32_t unused;
    uint64_t used;        // bytes taken from the start of the area
    uint64_t free[sizes]; // offset of the first free block of each size; 0: none
};

} // namespace zipmpi::wire
