// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Rebinding of the ranks, periodically and on request of the program (MPIX_Remap): samples message counts,
// calls Rebinder (launch/placement/rebinder.hpp), and moves ranks.
#pragma once

#include "launch/noded/rank_binder.hpp"
#include "launch/placement/rebinder.hpp"

#include <map>

namespace zipmpi::launch {

class TrafficRebinder {
  public:
    TrafficRebinder(NodeJob& job, EventLoop& loop, ParentLink& parent, JobLifecycle& lifecycle,
                    RankProcesses& ranks)
        : job_(job)
        , parent_(parent)
        , lifecycle_(lifecycle)
        , ranks_(ranks)
        , binder_(job, loop, parent, lifecycle, ranks) {}

    [[nodiscard]] RankBinder& binder() { return binder_; }
    [[nodiscard]] const RankBinder& binder() const { return binder_; }

    void start(); // if launch.rebind_interval is set
    void sample();
    void remap();                              // by the messages since the last sample or request
    [[nodiscard]] uint64_t next_time() const { // of the next sample; 0: none
        return lifecycle_.is_running() ? sample_at_ : 0;
    }

  private:
    void create_rebinder();
    mapping::Graph traffic_since_sample();
    void apply(const Rebinder::RebindDecision& decision);

    const NodeJob& job_;
    ParentLink& parent_;
    const JobLifecycle& lifecycle_;
    const RankProcesses& ranks_;
    RankBinder binder_;
    Rebinder rebinder_;
    uint64_t sample_at_ = 0, sampled_at_ = 0;             // 0: rebinding is off
    std::vector<std::map<uint32_t, double>> last_counts_; // of each rank, by destination
};

} // namespace zipmpi::launch
