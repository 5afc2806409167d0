// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The front process: between the terminal and the daemons. It starts the daemon of this host, or those of
// other hosts, passes input, output and signals, decides the exit status, and cleans up after a daemon that
// died.
#pragma once

#include "launch/grid/watch.hpp"
#include "launch/map/kernels.hpp"
#include "launch/mpiexec/options.hpp"
#include "launch/mpiexec/output.hpp"
#include "launch/mpiexec/stdin_window.hpp"
#include "launch/report/consensus.hpp"
#include "launch/report/hang_watch.hpp"
#include "launch/tree/fence.hpp"
#include "launch/tree/subtree.hpp"

#include <csignal>
#include <map>
#include <optional>
#include <sys/types.h>

namespace zipmpi::launch {

class Front {
  public:
    Front(Options options, StartRequest request);
    int run(); // the exit status of mpiexec

  private:
    bool start_daemons(Problem& why);
    bool start_daemon_here(Problem& why);
    void loop();
    int wait_ms() const;
    void on_frame(uint32_t child, const Frame& f);
    void on_lost(uint32_t child, bool had_come, const Problem& why);
    void on_event(std::string_view payload);
    void end_gateways_when_over();
    void on_gateways_lost(const std::string& what);
    void on_failure(std::string_view payload);
    void take_failure();
    void pass_fence_on();
    void on_picture(std::string_view payload);
    void on_kernel(std::string_view payload);
    void on_signals();
    void on_signal(int signal);
    void interrupt(int signal);
    void find_stdin_readers();
    void on_stdin();
    void send_stdin(FrameType type, std::string_view bytes);
    [[nodiscard]] bool wants_stdin() const;
    void on_snapshot(std::string_view payload);
    void on_deadlines();
    void check_output();
    void reap();
    void say(const Problem& p);
    void clean_up();

    Options options_;
    StartRequest request_;
    os::Fd signals_;
    Subtree below_;
    FenceGather fence_, pmix_fence_, ranks_over_;
    JobOutput output_;
    StdinWindow stdin_;
    HangWatch watch_;
    Consensus consensus_;
    std::map<uint32_t, Snapshot> snapshots_; // by id; parts from several hosts

    std::map<uint32_t, std::string> pictures_; // by node
    std::vector<NodeKernel> kernels_;          // of the nodes that have said theirs

    GridWatch grid_;

    bool done_ = false;
    bool failed_ = false;
    bool output_lost_ = false;       // and the user has been told
    std::optional<Failure> failure_; // the first, until it is sure to be the cause
    int exit_code_ = 0;
    int interrupted_by_ = 0;
    bool stdin_open_ = true;
    uint64_t timeout_at_ = 0, kill_at_ = 0, ask_at_ = 0, drop_at_ = 0, stdin_retry_at_ = 0, failure_at_ = 0,
             cut_off_at_ = 0;
};

} // namespace zipmpi::launch
