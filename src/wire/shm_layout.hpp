// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Queues and cells in the node segment. One ring per ordered pair of ranks, one producer and one consumer
// each, so no operation on it needs a lock or a locked instruction. A ring is two pages and exists only once
// its producer has reserved them.
#pragma once

#include "wire/envelope.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace zipmpi::wire {

inline constexpr size_t page_size = 4096;
inline constexpr uint32_t ring_pages = 2;
inline constexpr uint32_t ring_lines = ring_pages * (page_size / line_size) - 1;

// The first line of a message, and for most the only one. `mark` is the number of the line in this ring (1,
// 2, ...) cut to 32 bits; it is stored last and read first. A page of zeros is an empty ring.
struct alignas(line_size) RingLine {
    std::atomic<uint32_t> mark;
    Envelope envelope;
    std::byte payload[inline_max];
};
static_assert(sizeof(RingLine) == line_size);

// A line that continues the message of the line before it. Its mark counts like that of any other line, so
// that what an earlier lap left there is never taken for a new message; it is read only after the first
// line's mark.
struct alignas(line_size) Continuation {
    std::atomic<uint32_t> mark;
    std::byte bytes[continuation_bytes];
};
static_assert(sizeof(Continuation) == line_size);
static_assert(offsetof(RingLine, envelope) == 4 && offsetof(RingLine, payload) == 24);

struct Ring {
    // Written by the consumer: lines it has taken out so far. The producer may run at most ring_lines ahead.
    alignas(line_size) std::atomic<uint32_t> consumed;
    std::atomic<uint32_t>
        producer_waits; // set by a producer that found the ring full; the consumer then wakes it
    RingLine line[ring_lines];
};
static_assert(sizeof(Ring) == ring_pages * page_size);

// The one receive queue of a rank in the design with that name: the pages of its rings as one ring with many
// producers. The mark of a line then says who sent it as well: the sender above, the number of the line
// below.
inline constexpr uint32_t shared_ring_pages = 16;
inline constexpr uint32_t shared_mark_bits = 20;
struct SharedRing {
    alignas(line_size) std::atomic<uint32_t> consumed;
    std::atomic<uint32_t> producers_wait; // some producer found it full: the bits of arrivals say which
    alignas(line_size) std::atomic<uint32_t> tail; // lines claimed by producers
    RingLine line[page_size / line_size - 2];      // and on through the pages that follow
};
static_assert(sizeof(SharedRing) == page_size);
inline constexpr uint32_t shared_ring_lines(uint32_t local_ranks) {
    const uint32_t own = local_ranks * ring_pages;
    const uint32_t pages = own < shared_ring_pages ? own : shared_ring_pages;
    return pages * static_cast<uint32_t>(page_size / line_size) - 2;
}

// Head of a cell of the send buffer pool; the bytes follow after one line. A cell is handed out for a turn
// with a number; the reader writes that number here when it has copied the bytes out, and the owner, who
// knows the number, looks for it when it needs a cell (mark and sweep). Nobody else writes the line.
struct alignas(line_size) CellHead {
    std::atomic<uint32_t> released;
};
static_assert(sizeof(CellHead) == line_size);

} // namespace zipmpi::wire
