// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Which way a message goes, by the class of its pair and its size. The choice is made beforehand: cost curves
// (cost.hpp) are turned into a few sizes per class, so that the path of a message compares integers.
//
// How a lane uses them:
//
//   bytes <= eager_limit                   sent at once: in lines, or in a cell
//   source is born shared, >= direct_min   rendezvous (also below eager_limit); the receiver copies it itself
//   joint_min <= bytes <= joint_max        rendezvous; both copy it through the kernel, if allowed; from
//                                          joint_shared_min on if the source is born shared
//   kcopy_min <= bytes <= kcopy_max        rendezvous; the receiver copies it through the kernel, if allowed
//                                          and if the SourceSense of the pair does not advise against it
//   otherwise                              rendezvous; fragments of fragment_bytes through cells, with at
//                                          most window_bytes sent and not yet copied out
//
// A message with gaps is packed into cells, unless its pieces are long enough to be copied jointly: it has an
// eager limit of its own, and above it the first fragment goes with the question.
//
// PairChoice (pair_choice.hpp) has them for each peer of a rank. Pure functions here.
#pragma once

#include "topo/pair_class.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace zipmpi::proto {

using topo::PairClass;

// Two straight pieces: bytes that stay in a cache, and those beyond. In nanoseconds and picoseconds, so that
// whole numbers do.
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

// What a joint copy depends on, beside the size.
struct JointCase {
    bool born_shared = false; // the receiver has the source mapped
    bool in_stream = false;   // another message of the sender waits already
    uint64_t mean_piece = 0;  // of a buffer with gaps, on either side; 0: in one piece
};

struct Thresholds {
    uint64_t eager_limit; // not more than a cell holds
    uint64_t kcopy_min;   // UINT64_MAX: never through the kernel
    uint64_t kcopy_max;
    uint64_t fragment_bytes; // not more than a cell holds
    uint64_t window_bytes;   // at least two fragments
    uint64_t direct_min;
    uint64_t joint_min; // UINT64_MAX: the sender never helps
    uint64_t joint_max;
    uint64_t joint_shared_min; // joint_min or more
    Curve instead_of_kcopy;    // what fragments would take in place of one copy by the kernel
    // Of messages that do not lie in one piece; worked out by settled().
    uint64_t gaps_eager_limit = 0;
    uint64_t gaps_fragment_bytes = 0;
    bool operator==(const Thresholds&) const = default;

    // In a stream of messages both have enough to do, and parts of a buffer that is used again change caches.
    static constexpr uint64_t longer_in_streams = 8;
    // One more piece costs the kernel what copying so many bytes by way of cells does; to begin with it costs
    // as much as the second number (docs/decisions/0011).
    static constexpr uint64_t bytes_per_piece = 1280;
    static constexpr uint64_t bytes_before_pieces = 24 * 1024;

    [[nodiscard]] uint64_t joint_from(bool born_shared, bool in_stream) const {
        const uint64_t least = born_shared ? joint_shared_min : joint_min;
        if (!in_stream) return least;
        return least < UINT64_MAX / longer_in_streams ? least * longer_in_streams : UINT64_MAX;
    }
    [[nodiscard]] bool goes_jointly(uint64_t bytes, const JointCase& c) const {
        if (bytes < joint_from(c.born_shared, c.in_stream) || bytes > joint_max) return false;
        return c.mean_piece == 0 || (c.mean_piece > bytes_per_piece &&
                                     bytes / c.mean_piece * bytes_per_piece + bytes_before_pieces <= bytes);
    }

    // Short enough that both sides begin soon, long enough that few are needed.
    [[nodiscard]] uint64_t gaps_fragment(uint64_t bytes) const {
        const uint64_t most = 2 * gaps_fragment_bytes;
        return std::clamp(bytes / 8, gaps_fragment_bytes, most < fragment_bytes ? most : fragment_bytes);
    }
};

// Ranks that outnumber their CPUs take turns: ask for PairClass::same_core then, whatever the pair.
// These are the ones of the built-in costs, for cells of the usual size.
const Thresholds& thresholds_for(PairClass pair);

// What holds in the end: the knobs p2p.eager_limit, p2p.kcopy_min and p2p.joint_min go before costs, and a
// cell has its size.
Thresholds settled(Thresholds by_cost, uint64_t cell_bytes);

} // namespace zipmpi::proto
