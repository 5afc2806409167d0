// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// CmaHeuristic: decides per peer between CMA copy and fragments by timing CMA copies. For medium messages the
// better path depends on whether the sender has just written its buffer, which the receiver cannot see:
// fragments are faster if so, CMA if not, each by up to a factor of two. After a CMA copy slower than the
// predicted fragments, the receiver uses fragments for the next messages from that peer; their number doubles
// while CMA stays slow.
//
//     if (h.should_try()) { start = now; copy; h.record(t, bytes, now - start); } else fragments
#pragma once

#include "proto/select/select.hpp"

#include <algorithm>
#include <cstdint>

namespace zipmpi::proto {

class CmaHeuristic {
  public:
    bool should_try() {
        if (skip_ == 0) return true;
        --skip_;
        return false;
    }

    void record(const Thresholds& t, uint64_t bytes, uint64_t ns) {
        if (static_cast<double>(ns) <= nanoseconds(t.fragment_cost, bytes)) {
            slow_copies_ = 0;
            return;
        }
        slow_copies_ = std::min<uint8_t>(static_cast<uint8_t>(slow_copies_ + 1), max_slow_copies);
        skip_ = static_cast<uint8_t>((1U << slow_copies_) - 1);
    }

  private:
    static constexpr uint8_t max_slow_copies = 6; // then one message in 64 tries CMA again
    uint8_t skip_ = 0;
    uint8_t slow_copies_ = 0;
};

} // namespace zipmpi::proto
