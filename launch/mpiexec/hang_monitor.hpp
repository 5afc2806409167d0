// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Requests snapshots of all ranks, merges those of several hosts, and prints hang reports: on SIGQUIT, and
// with --report-hang. The stacks of the ranks follow a report.
#pragma once

#include "launch/mpiexec/stack_collector.hpp"
#include "launch/report/hang_watch.hpp"

#include <map>

namespace zipmpi::launch {

class HangMonitor {
  public:
    // seconds: limit of --report-hang; 0: off
    HangMonitor(double seconds, const StartRequest& request, Subtree& subtree, JobOutput& output)
        : seconds_(seconds)
        , world_size_(request.world_size)
        , subtree_(subtree)
        , output_(output)
        , stacks_(request, subtree, output)
        , watch_(seconds) {}

    void begin();
    void report_now();
    void on_snapshot(std::string_view payload); // payload of a frame
    void on_time(uint64_t now);
    [[nodiscard]] uint64_t next_time() const;
    [[nodiscard]] StackCollector& stacks() { return stacks_; }

  private:
    void request(uint32_t id);
    void report(const Snapshot& s, double idle_seconds);

    double seconds_;
    uint32_t world_size_;
    Subtree& subtree_;
    JobOutput& output_;
    StackCollector stacks_;
    HangWatch watch_;
    std::map<uint32_t, Snapshot> snapshots_; // by id; merged from several hosts
    uint64_t snapshot_at_ = 0;
};

} // namespace zipmpi::launch
