// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Detects a hang from successive snapshots: no call was entered, no operation completed, and every rank
// inside MPI sleeps. Reports once per hang.
#pragma once

#include "launch/report/snapshot.hpp"

#include <algorithm>

namespace zipmpi::launch {

class HangWatch {
  public:
    explicit HangWatch(double seconds)
        : limit_ns_(static_cast<uint64_t>(seconds * 1e9)) {}

    // Sampling interval.
    [[nodiscard]] uint64_t interval_ns() const {
        return std::clamp<uint64_t>(limit_ns_ / 8, 20'000'000, 1'000'000'000);
    }
    // Returns true if a report is due.
    bool feed(const Snapshot& s, uint64_t now_ns);

  private:
    uint64_t limit_ns_;
    uint64_t idle_since_ = 0;
    std::vector<uint64_t> marks_;
    bool reported_ = false;
};

} // namespace zipmpi::launch
