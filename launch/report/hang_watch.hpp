// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Decides from a row of snapshots when a job hangs: nothing was called, nothing completed, and every rank
// that is inside MPI sleeps. Speaks once per hang.
#pragma once

#include "launch/report/snapshot.hpp"

#include <algorithm>

namespace zipmpi::launch {

class HangWatch {
  public:
    explicit HangWatch(double seconds)
        : limit_ns_(static_cast<uint64_t>(seconds * 1e9)) {}

    // How often to look.
    [[nodiscard]] uint64_t interval_ns() const {
        return std::clamp<uint64_t>(limit_ns_ / 8, 20'000'000, 1'000'000'000);
    }
    // True: report now.
    bool feed(const Snapshot& s, uint64_t now_ns);

  private:
    uint64_t limit_ns_;
    uint64_t still_since_ = 0;
    std::vector<uint64_t> marks_;
    bool reported_ = false;
};

} // namespace zipmpi::launch
