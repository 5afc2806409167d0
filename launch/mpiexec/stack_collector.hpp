// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Requests the stacks of the ranks from the daemons and prints them, folded over all hosts: after a hang
// report and at the time limit.
#pragma once

#include "launch/mpiexec/job_output.hpp"
#include "launch/protocol/messages.hpp"
#include "launch/tree/subtree.hpp"

namespace zipmpi::launch {

class StackCollector {
  public:
    StackCollector(const StartRequest& request, Subtree& subtree, JobOutput& output)
        : request_(request)
        , subtree_(subtree)
        , output_(output) {}

    void begin(); // no effect if launch.stack_seconds is 0, or while is_pending()
    [[nodiscard]] bool is_pending() const { return deadline_ != 0; }
    void on_stacks(std::string_view payload); // payload of a frame
    void on_time(uint64_t now);
    [[nodiscard]] uint64_t next_time() const { return deadline_; }

  private:
    void print();

    const StartRequest& request_;
    Subtree& subtree_;
    JobOutput& output_;
    uint32_t id_ = 0;               // of the newest request
    std::vector<uint32_t> awaited_; // nodes that have not replied
    std::vector<HostStacks> hosts_; // that have replied
    uint64_t deadline_ = 0;         // 0: nothing is requested
};

} // namespace zipmpi::launch
