// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reads the stacks of the ranks on this node by gdb or eu-stack, on request of mpiexec. One process of the
// tool reads one rank after the other, so that few of them are stopped at a time. It ends at a deadline.
#pragma once

#include "launch/noded/parent_link.hpp"
#include "launch/noded/rank_processes.hpp"

#include <map>

namespace zipmpi::launch {

class StackReader {
  public:
    StackReader(const NodeJob& job, EventLoop& loop, ParentLink& parent, const RankProcesses& ranks);
    void on_request(std::string_view payload); // payload of a frame
    void on_time(uint64_t now);
    [[nodiscard]] uint64_t next_time() const; // 0: none

  private:
    void choose_ranks();
    [[nodiscard]] pid_t process_of(uint32_t local) const;
    bool start_tool(const std::string& name, const std::string& path);
    void on_readable();
    void finish();
    void continue_stopped_ranks();

    const NodeJob& job_;
    EventLoop& loop_;
    ParentLink& parent_;
    const RankProcesses& ranks_;
    EventLoop::Source source_;
    uint32_t id_ = 0;                  // of the request
    std::vector<pid_t> pids_;          // of the ranks to read, in order
    std::map<int, TracedRank> traced_; // by pid
    HostStacks result_;
    std::string text_; // output of the tool
    pid_t tool_ = 0;
    os::Fd pipe_; // open while the tool runs
    uint64_t deadline_ = 0, continue_at_ = 0;
};

} // namespace zipmpi::launch
