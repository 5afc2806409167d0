// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Ends a job early: after a signal of the user, and at the time limit. Kills the ranks after a grace period,
// and then discards output that is not read.
#pragma once

#include "launch/mpiexec/job_status.hpp"
#include "launch/mpiexec/stack_collector.hpp"

namespace zipmpi::launch {

class JobEnding {
  public:
    // timeout_seconds: 0: no limit
    JobEnding(double timeout_seconds, Subtree& subtree, JobOutput& output, JobStatus& status,
              StackCollector& stacks)
        : subtree_(subtree)
        , output_(output)
        , status_(status)
        , stacks_(stacks)
        , timeout_(timeout_seconds) {}

    void begin();
    void interrupt(int signal);
    void on_time(uint64_t now);
    void check_time_limit(uint64_t now);
    [[nodiscard]] uint64_t next_time() const; // 0: none

  private:
    Subtree& subtree_;
    JobOutput& output_;
    JobStatus& status_;
    StackCollector& stacks_;
    bool ends_after_stacks_ = false; // the time limit is reached
    double timeout_;                 // seconds
    uint64_t timeout_at_ = 0, kill_at_ = 0, drop_at_ = 0;
};

} // namespace zipmpi::launch
