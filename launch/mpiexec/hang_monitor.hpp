// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Requests snapshots of all ranks, merges those of several hosts, and prints hang reports: on SIGQUIT, and
// with --report-hang. The stacks of the ranks follow a report.
#pragma once

#include "launch/mpiexec/stack_collector.hpp"
#include "launch/report/hang_watch.hpp"
#include "launch/report/snapshot_rounds.hpp"

namespace zipmpi::launch {

class HangMonitor {
  public:
    // seconds: limit of --report-hang; 0: off
    HangMonitor(double seconds, const StartRequest& request, Subtree& subtree, JobOutput& output)
        : seconds_(seconds)
        , subtree_(subtree)
        , output_(output)
        , stacks_(request, subtree, output)
        , watch_(seconds)
        , rounds_(request.world_size) {}

    void begin();
    void report_now();
    void on_snapshot(std::string_view payload); // payload of a frame
    void on_time(uint64_t now);
    [[nodiscard]] uint64_t next_time() const;
    [[nodiscard]] StackCollector& stacks() { return stacks_; }

  private:
    void request(SnapshotPurpose purpose);
    void report(const Snapshot& s, double idle_seconds);

    double seconds_;
    Subtree& subtree_;
    JobOutput& output_;
    StackCollector stacks_;
    HangWatch watch_;
    SnapshotRounds rounds_;
    uint64_t snapshot_at_ = 0;
};

} // namespace zipmpi::launch
