// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Thresholds: sizes at which the path of a message changes, per class of pair. They are computed in advance
// from cost curves (cost.hpp), so that sending a message compares integers only. The progress engine uses
// them as follows:
//
//   bytes <= eager_limit              eager, in slots or in a cell
//   bytes >= arena_min, source in     rendezvous, also below eager_limit; the receiver copies from the arena
//     the shared arena
//   coop_min <= bytes <= coop_max     rendezvous; cooperative copy if CMA is allowed; from coop_arena_min
//                                     on if the source is in the shared arena
//   cma_min <= bytes <= cma_max       rendezvous; CMA copy by the receiver, if allowed and recommended by
//                                     the CmaHeuristic of the pair
//   otherwise                         rendezvous; fragments of fragment_bytes through cells, with at most
//                                     window_bytes in flight
//
// A noncontiguous message is packed into cells, unless its segments are long enough for a cooperative copy.
// It has a separate eager limit; above, the first fragment is sent with the rts.
//
// PeerThresholds (peer_thresholds.hpp) holds them for each peer of a rank.
#pragma once

#include "hwtopo/pair_class.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace zipmpi::proto {

using hwtopo::PairClass;

// Cost curve of two straight lines: bytes that stay in a cache, and bytes beyond. The units, nanoseconds and
// picoseconds, allow integers.
struct Curve {
    uint64_t start_ns;
    uint64_t cached_ps;    // per byte, up to cached_bytes
    uint64_t beyond_ps;    // per byte beyond
    uint64_t cached_bytes; // where the curve bends
    bool operator==(const Curve&) const = default;
};

constexpr double nanoseconds(const Curve& c, uint64_t bytes) {
    const uint64_t cached = bytes < c.cached_bytes ? bytes : c.cached_bytes;
    return static_cast<double>(c.start_ns) +
           (static_cast<double>(cached) * static_cast<double>(c.cached_ps) +
            static_cast<double>(bytes - cached) * static_cast<double>(c.beyond_ps)) /
               1000;
}

// Properties of a message, besides its size, on which a cooperative copy depends.
struct CoopCase {
    bool in_arena = false;     // the source is in the shared arena
    bool in_stream = false;    // another message of the sender is already in the ring
    uint64_t mean_segment = 0; // of a noncontiguous buffer, on either side; 0: contiguous
};

struct Thresholds {
    uint64_t eager_limit; // at most one cell
    uint64_t cma_min;     // UINT64_MAX: no CMA copy
    uint64_t cma_max;
    uint64_t fragment_bytes; // at most one cell
    uint64_t window_bytes;   // at least two fragments
    uint64_t arena_min;
    uint64_t coop_min; // UINT64_MAX: no cooperative copy
    uint64_t coop_max;
    uint64_t coop_arena_min; // at least coop_min
    Curve fragment_cost;     // of fragments in place of a CMA copy
    // For noncontiguous messages; set by apply_overrides().
    uint64_t noncontig_eager_limit = 0;
    uint64_t noncontig_fragment_bytes = 0;
    bool operator==(const Thresholds&) const = default;

    // Factor on coop_min in a stream of messages: both sides are busy then, and chunks of a reused buffer
    // would move between caches.
    static constexpr uint64_t stream_factor = 8;
    // Cost of a CMA copy with iovecs, per segment and per call, in bytes that could be copied through cells
    // instead (docs/decisions/0011).
    static constexpr uint64_t segment_cost_bytes = 1280;
    static constexpr uint64_t iov_setup_bytes = 24 * 1024;

    [[nodiscard]] uint64_t coop_threshold(bool in_arena, bool in_stream) const {
        const uint64_t least = in_arena ? coop_arena_min : coop_min;
        if (!in_stream) return least;
        return least < UINT64_MAX / stream_factor ? least * stream_factor : UINT64_MAX;
    }
    [[nodiscard]] bool should_coop_copy(uint64_t bytes, const CoopCase& c) const {
        if (bytes < coop_threshold(c.in_arena, c.in_stream) || bytes > coop_max) return false;
        return c.mean_segment == 0 ||
               (c.mean_segment > segment_cost_bytes &&
                bytes / c.mean_segment * segment_cost_bytes + iov_setup_bytes <= bytes);
    }

    // Fragment size of a noncontiguous message: small for early overlap, large enough for few fragments.
    [[nodiscard]] uint64_t noncontig_fragment(uint64_t bytes) const {
        const uint64_t most = 2 * noncontig_fragment_bytes;
        return std::clamp(bytes / 8, noncontig_fragment_bytes, most < fragment_bytes ? most : fragment_bytes);
    }
};

// Thresholds from the built-in costs, for cells of default size. When oversubscribed, PairClass::same_core
// applies to every pair.
const Thresholds& thresholds_for(PairClass pair);

// Applies the parameters p2p.eager_limit, p2p.cma_min and p2p.coop_copy_min, which override the costs, and
// the limits given by the cell size.
Thresholds apply_overrides(Thresholds by_cost, uint64_t cell_bytes);

} // namespace zipmpi::proto
