// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The thresholds for each peer of a rank. A lane asks with() for messages that do not fit in lines: the first
// time for a peer this finds the class of the pair, later it is two loads: the second one sees whether the
// launcher has moved ranks to other cores, after which all classes are found anew. What has to be found out
// about the node (places, measured costs) is found out by one rank and left in the node segment.
//
// Threads: the lane that owns it serialises all calls.
#pragma once

#include "boot/node_segment.hpp"
#include "proto/select/select.hpp"

#include <atomic>
#include <vector>

namespace zipmpi::proto {

class PairChoice {
  public:
    PairChoice(const boot::NodeSegment& segment, uint32_t self);

    [[nodiscard]] const Thresholds& with(uint32_t peer) {
        const Thresholds* known = peers_[peer];
        // acquire: the places are those after the moves
        if (moves_.load(std::memory_order_acquire) != moves_seen_) [[unlikely]]
            return find_anew(peer);
        return known != nullptr ? *known : find(peer);
    }
    // For every peer while ranks outnumber CPUs.
    [[nodiscard]] const Thresholds& taking_turns() {
        if (!thresholds_taken_) take_thresholds();
        return of_class(PairClass::same_core);
    }

  private:
    [[gnu::cold]] const Thresholds& find(uint32_t peer);
    [[gnu::cold]] const Thresholds& find_anew(uint32_t peer);
    [[gnu::cold]] bool take_thresholds();
    [[nodiscard]] const Thresholds& of_class(PairClass pair) const {
        return thresholds_[static_cast<size_t>(pair)];
    }
    bool find_class(uint32_t peer, PairClass& pair);

    const boot::NodeSegment& segment_;
    uint32_t self_;
    bool thresholds_taken_ = false;
    Thresholds thresholds_[topo::pair_classes];
    std::vector<const Thresholds*> peers_; // null: the class is not known
    const std::atomic<uint64_t>& moves_;   // in the segment
    uint64_t moves_seen_ = 0;
};

} // namespace zipmpi::proto
