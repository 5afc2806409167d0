// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The front end of mpiexec, between the terminal and the daemons. It starts the daemon of this host or the
// daemons of other hosts, forwards input, output and signals, decides the exit status, and cleans up after a
// daemon that died.
#pragma once

#include "launch/clusters/reachability.hpp"
#include "launch/mpiexec/job_output.hpp"
#include "launch/mpiexec/options.hpp"
#include "launch/mpiexec/stdin_window.hpp"
#include "launch/placement/kernel_share.hpp"
#include "launch/report/fault_sequencer.hpp"
#include "launch/report/hang_watch.hpp"
#include "launch/tree/fence.hpp"
#include "launch/tree/subtree.hpp"

#include <csignal>
#include <map>
#include <optional>
#include <sys/types.h>

namespace zipmpi::launch {

class Frontend {
  public:
    Frontend(Options options, StartRequest request);
    int run(); // returns the exit status of mpiexec

  private:
    bool start_daemons(Diagnostic& why);
    bool start_local_daemon(Diagnostic& why);
    void loop();
    int wait_ms() const;
    void on_frame(uint32_t child, const ControlFrame& f);
    void on_child_failed(uint32_t child, bool was_connected, const Diagnostic& why);
    void on_event(std::string_view payload);
    void end_gateways_when_finished();
    void on_gateways_failed(const std::string& what);
    void on_failure(std::string_view payload);
    void commit_failure();
    void forward_fences();
    void on_placement_text(std::string_view payload);
    void on_kernel_info(std::string_view payload);
    void on_signals();
    void on_signal(int signal);
    void interrupt(int signal);
    void find_stdin_readers();
    void on_stdin();
    void send_stdin(ControlFrameType type, std::string_view bytes);
    [[nodiscard]] bool wants_stdin() const;
    void on_snapshot(std::string_view payload);
    void on_deadlines();
    void check_output();
    void reap();
    void print_diagnostic(const Diagnostic& p);
    void clean_up();

    Options options_;
    StartRequest request_;
    os::Fd signals_;
    Subtree subtree_;
    FenceGather fence_, pmix_fence_, ranks_finished_;
    JobOutput output_;
    StdinWindow stdin_;
    HangWatch hang_watch_;
    FaultSequencer fault_sequencer_;
    std::map<uint32_t, Snapshot> snapshots_; // by id; merged from several hosts

    std::map<uint32_t, std::string> placement_texts_; // by node
    std::vector<NodeKernel> kernels_;                 // of the nodes that have reported

    ClusterReachability reachability_;

    bool done_ = false;
    bool failed_ = false;
    bool output_failed_ = false;     // and reported
    std::optional<Failure> failure_; // the first one, until its cause is confirmed
    int exit_code_ = 0;
    int interrupted_by_ = 0;
    bool stdin_open_ = true;
    uint64_t timeout_at_ = 0, kill_at_ = 0, snapshot_at_ = 0, drop_at_ = 0, stdin_retry_at_ = 0,
             failure_at_ = 0, partition_deadline_ = 0;
};

} // namespace zipmpi::launch
