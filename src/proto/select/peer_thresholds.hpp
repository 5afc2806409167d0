// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// PeerThresholds: thresholds for each peer of a rank. The progress engine calls of() for messages that do not
// fit into slots. The first call for a peer determines the class of the pair; later calls are two loads, the
// second of which detects that the launcher has rebound ranks, after which all classes are determined again.
// Facts about the node (localities, measured costs) are determined by one rank and published in the node
// segment.
//
// Threads: all calls hold the engine's lock.
#pragma once

#include "os/lazy_table.hpp"
#include "proto/select/select.hpp"
#include "segment/node_segment.hpp"

#include <atomic>

namespace zipmpi::proto {

class PeerThresholds {
  public:
    PeerThresholds(const segment::NodeSegment& segment, uint32_t self);

    [[nodiscard]] const Thresholds& of(uint32_t peer) {
        const Thresholds* cached = peers_[peer];
        // acquire: the localities read afterwards are those after the rebinding
        if (moves_.load(std::memory_order_acquire) != moves_seen_) [[unlikely]]
            return refresh(peer);
        return cached != nullptr ? *cached : find(peer);
    }
    // Thresholds for every peer while the node is oversubscribed.
    [[nodiscard]] const Thresholds& when_oversubscribed() {
        if (!thresholds_loaded_) load_thresholds();
        return of_class(PairClass::same_core);
    }

  private:
    [[gnu::cold]] const Thresholds& find(uint32_t peer);
    [[gnu::cold]] const Thresholds& refresh(uint32_t peer);
    [[gnu::cold]] bool load_thresholds();
    [[nodiscard]] const Thresholds& of_class(PairClass pair) const {
        return thresholds_[static_cast<size_t>(pair)];
    }
    bool find_class(uint32_t peer, PairClass& pair);

    const segment::NodeSegment& segment_;
    uint32_t self_;
    bool thresholds_loaded_ = false;
    Thresholds thresholds_[hwtopo::pair_classes];
    os::LazyTable<const Thresholds*> peers_; // null: class unknown
    const std::atomic<uint64_t>& moves_;     // in the segment
    uint64_t moves_seen_ = 0;
};

} // namespace zipmpi::proto
