// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Rings and cells in the node segment. One ring per ordered pair of ranks, with one producer and one
// consumer, so no operation needs a lock or a locked instruction. A ring has two pages, reserved by its
// producer on first use.
#pragma once

#include "wire/envelope.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace zipmpi::wire {

inline constexpr size_t page_size = 4096;
inline constexpr uint32_t ring_pages = 2;
inline constexpr uint32_t ring_slots = ring_pages * (page_size / cache_line) - 1;

// First slot of a message, usually the only one. `seq` is the number of the slot in this ring (1, 2, ...)
// modulo 2^32; it is stored last and read first. A zeroed page is an empty ring.
struct alignas(cache_line) RingSlot {
    std::atomic<uint32_t> seq;
    Envelope envelope;
    std::byte payload[inline_max];
};
static_assert(sizeof(RingSlot) == cache_line);

// Continuation slot. Its `seq` counts like that of a first slot, so that data of an earlier lap is never
// taken for a new message; it is read only after the `seq` of the first slot.
struct alignas(cache_line) RingSlotTail {
    std::atomic<uint32_t> seq;
    std::byte bytes[slot_continuation_bytes];
};
static_assert(sizeof(RingSlotTail) == cache_line);
static_assert(offsetof(RingSlot, envelope) == 4 && offsetof(RingSlot, payload) == 24);

struct Ring {
    // Slots consumed so far, written by the consumer. The producer may be at most ring_slots ahead.
    alignas(cache_line) std::atomic<uint32_t> consumed;
    // set by a producer that found the ring full; the consumer then wakes it
    std::atomic<uint32_t> producer_waits;
    RingSlot slot[ring_slots];
};
static_assert(sizeof(Ring) == ring_pages * page_size);

// Receive queue of a rank with shm.poll_mode=mpsc: the pages of its rings as one ring with many producers.
// The `seq` of a slot has the sender in its upper bits and the slot number in its lower mpsc_seq_bits.
inline constexpr uint32_t mpsc_ring_pages = 16;
inline constexpr uint32_t mpsc_seq_bits = 20;
inline constexpr uint32_t mpsc_max_ranks = 1U << (32 - mpsc_seq_bits);
struct MpscRing {
    alignas(cache_line) std::atomic<uint32_t> consumed;
    std::atomic<uint32_t> producers_wait; // 1: a producer found it full; arrival_bitmap has the producers
    alignas(cache_line) std::atomic<uint32_t> tail; // slots claimed by producers
    RingSlot slot[page_size / cache_line - 2];      // continued in the following pages
};
static_assert(sizeof(MpscRing) == page_size);
inline constexpr uint32_t mpsc_ring_slots(uint32_t local_ranks) {
    const uint32_t available_pages = local_ranks * ring_pages;
    const uint32_t pages = available_pages < mpsc_ring_pages ? available_pages : mpsc_ring_pages;
    return pages * static_cast<uint32_t>(page_size / cache_line) - 2;
}

// Header of a cell; the data follows after one cache line. Each use of a cell has a generation number. The
// reader stores it here after copying the data; the owner compares it when it needs a cell (mark and sweep).
// Apart from the owner after the reader has failed, no other process writes this cache line.
struct alignas(cache_line) CellHead {
    std::atomic<uint32_t> released;
};
static_assert(sizeof(CellHead) == cache_line);

} // namespace zipmpi::wire
