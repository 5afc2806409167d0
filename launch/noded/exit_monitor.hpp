// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The ends of processes: reaps them, classifies exits and aborts of ranks, and reports failures. Also signals
// that are sent to the daemon.
#pragma once

#include "launch/noded/fault_relay.hpp"
#include "launch/noded/gateway_supervisor.hpp"
#include "launch/noded/pmix_service.hpp"
#include "launch/report/exit_report.hpp"

namespace zipmpi::launch {

class ExitMonitor {
  public:
    // Services that have data of a process that has exited, or that are told of its exit.
    struct Services {
        PmiService& pmi;
        PmixService& pmix;
        OutputForwarder& outputs;
        GatewaySupervisor& gateways;
        FaultRelay& faults;
    };
    ExitMonitor(const NodeJob& job, EventLoop& loop, Subtree& subtree, JobLifecycle& lifecycle,
                RankProcesses& ranks, Services services);
    void reap();
    void withdraw_pid(uint32_t local);
    void on_abort(uint32_t client, int exit_code, std::string_view text);

  private:
    void on_signals();
    void on_rank_exit(uint32_t local, int status);
    void classify_exit(uint32_t local, int status);
    [[nodiscard]] RankExit rank_exit_of(uint32_t local) const;
    [[nodiscard]] Diagnostic describe_signal(int signal) const;

    const NodeJob& job_;
    Subtree& subtree_;
    JobLifecycle& lifecycle_;
    RankProcesses& ranks_;
    Services services_;
    os::Fd signals_;
};

} // namespace zipmpi::launch
