// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What messages cost between ranks that nobody has measured, from what the hardware and the kernel do:
//
//   cell        the sender copies into lines that the receiver has had (push), the receiver copies out lines
//               that the sender has just written (pull): both at the distance of the pair
//   fragments   the same in a row; three more lines to ask, and the two copies overlap where two cores copy
//   kernel      the start of a system call, and pinning each page, neither of which knows a distance; one
//               copy: a pull if the source is fresh, within the own cache if it is kept
//   direct      the same without the kernel
//   joint       the kernel's costs on both sides; each copies about a half
//
// So a second copy costs pull + push - near - page per byte more than one copy by the kernel, and the system
// call pays from syscall / (pull + push - near - page) bytes on: never within a cell where two ranks share a
// near cache, and the earlier the farther apart they are. The unit test holds the model against the measured
// class.
#pragma once

#include "base/param.hpp"
#include "proto/select/cost.hpp"

namespace zipmpi::proto {

// Nanoseconds, and picoseconds per byte.
struct Distance {
    uint64_t line_ns;   // one line with a message, from one core to the other
    uint64_t pull_ps;   // copying what the other core has just written: the first KiB
    uint64_t stream_ps; // the same in a long row, which the prefetcher follows
    uint64_t push_ps;   // copying into lines that the other core has had
    uint64_t memory_ps; // copying what is in no cache
    bool one_core;      // two copies share the ports of one core, or of one cache: they do not overlap
    uint64_t window_bytes;
};

// Of the machine on which shared_l3 was measured (docs/decisions/0010), and independent of the distance.
inline constexpr uint64_t near_ps = 42;     // a copy within the own cache: direct copy, kept
inline constexpr uint64_t syscall_ns = 700; // process_vm_readv: the start of a kernel copy less two lines
inline constexpr uint64_t page_ps = 22;     // 90 ns to find and pin a page: kernel copy less near_ps
inline constexpr uint64_t own_cache = 256 * KiB; // what a core keeps of a source or a target

constexpr uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

// Two that copy at these speeds at the same time.
constexpr uint64_t together(uint64_t a_ps, uint64_t b_ps) { return a_ps * b_ps / (a_ps + b_ps); }

constexpr PathCost modeled_joint(const Distance& d) {
    const uint64_t start = 3 * d.line_ns + 2 * syscall_ns; // rts, help, ack; two chunks, one after the other
    const uint64_t read_ps = d.stream_ps + page_ps;
    const uint64_t write_ps =
        d.stream_ps + d.push_ps + page_ps; // which lines are near depends on who took them last
    const uint64_t kept_ps = near_ps + page_ps, far_ps = d.memory_ps + page_ps;
    if (d.one_core) return {{start, read_ps, far_ps, own_cache}, {start, kept_ps, far_ps, own_cache}};
    return {{start, together(read_ps, write_ps), together(read_ps, write_ps), own_cache},
            {start, together(kept_ps, kept_ps), together(far_ps, far_ps), own_cache}};
}

constexpr PairCosts modeled(const Distance& d) {
    const uint64_t both_ps = d.pull_ps + d.push_ps;
    const uint64_t overlapped_ps = larger(d.stream_ps, d.memory_ps);
    const Curve cell{2 * d.line_ns, both_ps, d.stream_ps + d.push_ps, 8 * KiB};
    // rts, cts, the first fragment, and its cell given back
    const Curve fragments{4 * d.line_ns, both_ps, overlapped_ps, d.one_core ? 2 * own_cache : 16 * KiB};
    const uint64_t asked_ns = 2 * d.line_ns; // rts, ack
    return {d.line_ns,
            d.line_ns / 4,
            {cell, cell},
            {fragments, fragments},
            {{asked_ns + syscall_ns, d.pull_ps + page_ps, d.stream_ps + page_ps, 16 * KiB},
             {asked_ns + syscall_ns, near_ps + page_ps, d.memory_ps + page_ps, own_cache}},
            {{asked_ns, d.pull_ps, d.stream_ps, 8 * KiB}, {asked_ns, near_ps, d.memory_ps, 2 * own_cache}},
            modeled_joint(d),
            assumed_cell_bytes,
            d.window_bytes};
}

// Cores below one L3: from the measured class. The others by the ratio of latencies between cores as they are
// assumed here, not measured: about 20 ns within an L2, 50 by a shared L3, 90 between the L3s of a package,
// 125 between packages; a line's message holds 60 ns of software beside it. Within a shared L2 no line has to
// change its cache; memory of another package is read at 0.6 of the speed.
inline constexpr Distance shared_l3_distance{140, 120, 100, 45, 75, false, 256 * KiB};
inline constexpr Distance shared_l2_distance{90, near_ps + 3, near_ps + 1, near_ps, 75, true, 256 * KiB};
inline constexpr Distance same_numa_distance{204, 216, 180, 81, 75, false, 512 * KiB};
inline constexpr Distance other_numa_distance{260, 300, 250, 113, 120, false, 512 * KiB};

} // namespace zipmpi::proto
