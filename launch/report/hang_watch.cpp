// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/report/hang_watch.hpp"

namespace zipmpi::launch {

bool HangWatch::feed(const Snapshot& s, uint64_t now_ns) {
    std::vector<uint64_t> marks;
    bool all_asleep = true;
    size_t inside = 0;
    for (const RankSnapshot& p : s) {
        marks.push_back(p.call_count);
        marks.push_back(p.progress);
        marks.push_back(static_cast<uint64_t>(p.phase));
        if (p.phase != RankPhase::running) continue;
        ++inside;
        all_asleep = all_asleep && is_blocked_in_mpi(p);
    }
    if (marks != marks_ || idle_since_ == 0) {
        marks_ = std::move(marks);
        idle_since_ = now_ns;
        reported_ = false;
        return false;
    }
    if (reported_ || inside == 0 || !all_asleep || now_ns - idle_since_ < limit_ns_) return false;
    reported_ = true;
    return true;
}

} // namespace zipmpi::launch
