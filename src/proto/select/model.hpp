// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Model of message costs for pair classes without measurement, from the behavior of hardware and kernel:
//
//   cell        the sender copies into cache lines last held by the receiver (push); the receiver copies from
//               cache lines just written by the sender (pull). Both depend on the distance of the pair.
//   fragments   push and pull per fragment, two more slot transfers for the rendezvous; the two copies
//               overlap if they run on two cores
//   cma         one system call and one pinning per page, independent of the distance; one copy: a pull
//               if the source is fresh, within the local cache if it is reused
//   arena       as cma, without system call and pinning
//   coop        as cma, on both sides; each copies about half of the message
//
// So a second copy costs pull + push - local_copy - page more per byte than a CMA copy, and the system call
// pays from syscall / (pull + push - local_copy - page) bytes on. That is never within a cell if the two
// ranks share an L2 cache, and at smaller sizes for larger distances. A unit test compares the model with the
// measured class.
#pragma once

#include "base/param.hpp"
#include "proto/select/cost.hpp"

namespace zipmpi::proto {

// Communication costs of a pair of cores, in nanoseconds and in picoseconds per byte.
struct Distance {
    uint64_t slot_transfer_ns; // transfer of a slot from one core to the other, including software
    uint64_t pull_ps;          // copy of data just written by the other core: the first KiB
    uint64_t stream_ps;        // copy of data just written by the other core: long runs, with prefetching
    uint64_t push_ps;          // copy into cache lines last held by the other core
    uint64_t memory_ps;        // copy of data in no cache
    bool one_core;             // both ranks share the ports of one core or cache, so copies do not overlap
    uint64_t window_bytes;
};

// Constants independent of the distance, from the machine on which shared_l3 was measured
// (docs/decisions/0010).
inline constexpr uint64_t local_copy_ps = 42; // copy within the local cache: arena copy of a reused source
inline constexpr uint64_t syscall_ns = 700;   // process_vm_readv: start of a CMA copy less two slot transfers
inline constexpr uint64_t page_ps = 22;       // 90 ns to find and pin a page: CMA copy less local_copy_ps
inline constexpr uint64_t core_cache_bytes = 256 * KiB; // of a source or destination, kept in a core's cache

constexpr uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

// Cost per byte of two concurrent copies with these costs.
constexpr uint64_t concurrent_ps(uint64_t a_ps, uint64_t b_ps) { return a_ps * b_ps / (a_ps + b_ps); }

constexpr PathCost modeled_coop(const Distance& d) {
    // rts, coop_offer, ack; two chunks one after the other
    const uint64_t start = 3 * d.slot_transfer_ns + 2 * syscall_ns;
    const uint64_t read_ps = d.stream_ps + page_ps;
    // Plus push: a destination line is in the cache of the side that copied it last.
    const uint64_t write_ps = d.stream_ps + d.push_ps + page_ps;
    const uint64_t cached_ps = local_copy_ps + page_ps, uncached_ps = d.memory_ps + page_ps;
    if (d.one_core)
        return {{start, read_ps, uncached_ps, core_cache_bytes},
                {start, cached_ps, uncached_ps, core_cache_bytes}};
    return {{start, concurrent_ps(read_ps, write_ps), concurrent_ps(read_ps, write_ps), core_cache_bytes},
            {start, concurrent_ps(cached_ps, cached_ps), concurrent_ps(uncached_ps, uncached_ps),
             core_cache_bytes}};
}

constexpr PairCosts modeled(const Distance& d) {
    const uint64_t both_ps = d.pull_ps + d.push_ps;
    const uint64_t overlapped_ps = larger(d.stream_ps, d.memory_ps);
    const Curve cell{2 * d.slot_transfer_ns, both_ps, d.stream_ps + d.push_ps, 8 * KiB};
    // rts, cts, first fragment, return of its cell
    const Curve fragments{4 * d.slot_transfer_ns, both_ps, overlapped_ps,
                          d.one_core ? 2 * core_cache_bytes : 16 * KiB};
    const uint64_t rendezvous_ns = 2 * d.slot_transfer_ns; // rts, ack
    return {d.slot_transfer_ns,
            d.slot_transfer_ns / 4,
            {cell, cell},
            {fragments, fragments},
            {{rendezvous_ns + syscall_ns, d.pull_ps + page_ps, d.stream_ps + page_ps, 16 * KiB},
             {rendezvous_ns + syscall_ns, local_copy_ps + page_ps, d.memory_ps + page_ps, core_cache_bytes}},
            {{rendezvous_ns, d.pull_ps, d.stream_ps, 8 * KiB},
             {rendezvous_ns, local_copy_ps, d.memory_ps, 2 * core_cache_bytes}},
            modeled_coop(d),
            assumed_cell_bytes,
            d.window_bytes};
}

// shared_l3 is from the measured class. The others are scaled by assumed, not measured, latencies between
// cores: 20 ns within an L2, 50 ns through a shared L3, 90 ns between the L3 caches of a package, 125 ns
// between packages; a slot transfer includes 60 ns of software besides. Within a shared L2 no cache-line
// transfer is needed; memory of another package is read at 0.6 times the local bandwidth.
inline constexpr Distance shared_l3_distance{140, 120, 100, 45, 75, false, 256 * KiB};
inline constexpr Distance shared_l2_distance{90,   local_copy_ps + 3, local_copy_ps + 1, local_copy_ps, 75,
                                             true, 256 * KiB};
inline constexpr Distance same_numa_distance{204, 216, 180, 81, 75, false, 512 * KiB};
inline constexpr Distance other_numa_distance{260, 300, 250, 113, 120, false, 512 * KiB};

} // namespace zipmpi::proto
