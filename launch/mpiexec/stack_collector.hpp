// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Requests the stacks of the ranks from the daemons and prints them, folded over all hosts: after a hang
// report and at the time limit.
#pragma once

#include "launch/mpiexec/host_round.hpp"
#include "launch/mpiexec/job_output.hpp"

namespace zipmpi::launch {

class StackCollector {
  public:
    StackCollector(const StartRequest& request, Subtree& subtree, JobOutput& output)
        : request_(request)
        , output_(output)
        , round_(request, subtree) {}

    void begin(); // no effect if launch.stack_seconds is 0, or while is_pending()
    [[nodiscard]] bool is_pending() const { return round_.is_pending(); }
    void on_stacks(std::string_view payload); // payload of a frame
    void on_time(uint64_t now);
    [[nodiscard]] uint64_t next_time() const { return round_.next_time(); }

  private:
    void print();

    const StartRequest& request_;
    JobOutput& output_;
    HostRound round_;
    std::vector<HostStacks> hosts_; // that have replied
};

} // namespace zipmpi::launch
