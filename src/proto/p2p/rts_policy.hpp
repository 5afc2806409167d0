// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Decides per peer whether a cell-sized message is sent eagerly or by rendezvous, from how earlier rendezvous
// ended. A rendezvous pays if the receiver then uses a single copy. If it repeatedly requests fragments
// instead (CMA is denied, or slow because the data is freshly written), eager sends save the round trip. One
// message in 64 still uses a rendezvous to notice changes.
#pragma once

#include <cstdint>

namespace zipmpi::proto {

class RtsPolicy {
  public:
    void on_cts() { cts_in_sequence_ += cts_in_sequence_ < skip_after ? 1 : 0; }
    void on_single_copy() { cts_in_sequence_ = 0; }
    // False also while a probe is due, until on_rts(): a message may ask twice (try_send_eager(), then
    // start()).
    [[nodiscard]] bool should_skip_rts() {
        if (cts_in_sequence_ != skip_after || skipped_ == probe_interval - 1) return false;
        ++skipped_;
        return true;
    }
    // An rts was sent.
    void on_rts() {
        if (skipped_ == probe_interval - 1) skipped_ = 0;
    }

  private:
    static constexpr uint8_t skip_after = 4;
    static constexpr uint8_t probe_interval = 64;
    uint8_t cts_in_sequence_ = 0; // consecutive cts
    uint8_t skipped_ = 0;
};

} // namespace zipmpi::proto
