// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The front end of mpiexec, between the terminal and the daemons. It starts the daemons, forwards input,
// output and signals, and cleans up after a daemon that died.
#pragma once

#include "launch/mpiexec/cluster_monitor.hpp"
#include "launch/mpiexec/hang_monitor.hpp"
#include "launch/mpiexec/job_ending.hpp"
#include "launch/mpiexec/job_output.hpp"
#include "launch/mpiexec/job_status.hpp"
#include "launch/mpiexec/options.hpp"
#include "launch/mpiexec/placement_collector.hpp"
#include "launch/mpiexec/process_table.hpp"
#include "launch/mpiexec/stdin_source.hpp"
#include "launch/mpiexec/view_server.hpp"
#include "launch/report/fault_sequencer.hpp"
#include "launch/tree/fence.hpp"
#include "launch/tree/subtree.hpp"

namespace zipmpi::launch {

class Frontend {
  public:
    Frontend(const Options& options, StartRequest request);
    int run(); // returns the exit status of mpiexec

  private:
    void loop();
    [[nodiscard]] int next_wait_ms() const;
    void on_frame(uint32_t child, const ControlFrame& f);
    void on_child_failed(uint32_t child, ChildFailure how, const Diagnostic& why);
    void on_event(std::string_view payload);
    void mark_ranks_failed(NodeRange nodes);
    void forward_fences();
    void route(std::string_view payload);
    void on_signals();
    void on_signal(int signal);
    void on_deadlines();
    void reap();
    void clean_up();

    StartRequest request_;
    os::Fd signals_;
    Subtree subtree_;
    JobOutput output_;
    JobStatus status_;
    ViewServer views_;
    HangMonitor hangs_;
    JobEnding ending_;
    StdinSource stdin_;
    PlacementCollector placements_;
    ClusterMonitor clusters_;
    ProcessTable processes_;
    FaultSequencer fault_sequencer_;
    FenceGather fence_, pmix_fence_;
};

} // namespace zipmpi::launch
