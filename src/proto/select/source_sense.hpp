// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Kernel copy or fragments? For medium messages that depends on something nobody is told: whether the sender
// has just written its buffer. The kernel is faster if not, fragments are if so, each by up to a factor of
// two. A receiver senses it: it times its copies by the kernel, and after one that was slower than fragments
// would have been it lets a number of messages of that peer go in fragments; a number that doubles while
// copies stay slow.
//
// One per peer, in the receiving lane:
//
//     if (sense.try_kernel()) { start = now; copy; sense.took(t, bytes, now - start); } else fragments
#pragma once

#include "proto/select/select.hpp"

#include <algorithm>
#include <cstdint>

namespace zipmpi::proto {

class SourceSense {
  public:
    bool try_kernel() {
        if (skip_ == 0) return true;
        --skip_;
        return false;
    }

    void took(const Thresholds& t, uint64_t bytes, uint64_t ns) {
        if (static_cast<double>(ns) <= nanoseconds(t.instead_of_kcopy, bytes)) {
            slow_copies_ = 0;
            return;
        }
        slow_copies_ = std::min<uint8_t>(static_cast<uint8_t>(slow_copies_ + 1), most_slow_copies);
        skip_ = static_cast<uint8_t>((1U << slow_copies_) - 1);
    }

  private:
    static constexpr uint8_t most_slow_copies = 6; // one message of 64 finds out whether things have changed
    uint8_t skip_ = 0;
    uint8_t slow_copies_ = 0;
};

} // namespace zipmpi::proto
