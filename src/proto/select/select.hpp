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
//   bytes >= kcopy_min                     rendezvous; the receiver copies it through the kernel, if allowed
//   otherwise                              rendezvous; fragments of fragment_bytes through cells, with at
//                                          most window_bytes sent and not yet copied out
//
// Threads: the table changes only in load_thresholds(), which a process calls while it comes up.
#pragma once

#include "topo/pair_class.hpp"

#include <cstdint>

namespace zipmpi::proto {

using topo::PairClass;

struct Thresholds {
    uint64_t eager_limit;    // not more than a cell holds
    uint64_t kcopy_min;      // UINT64_MAX: never through the kernel
    uint64_t fragment_bytes; // not more than a cell holds
    uint64_t window_bytes;   // at least two fragments
    uint64_t direct_min;
    bool operator==(const Thresholds&) const = default;
};

// Ranks that outnumber their CPUs take turns: ask for PairClass::same_core then, whatever the pair.
const Thresholds& thresholds_for(PairClass pair);

} // namespace zipmpi::proto
