// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The node daemon: connects its services and serves them. One thread, one loop (the other thread of
// SecondTable runs only while this one waits for it); every descriptor is nonblocking, and every wait has a
// deadline or ends with its peer.
#pragma once

#include "launch/noded/exit_monitor.hpp"
#include "launch/noded/fault_relay.hpp"
#include "launch/noded/gateway_supervisor.hpp"
#include "launch/noded/output_forwarder.hpp"
#include "launch/noded/pmi_service.hpp"
#include "launch/noded/pmix_service.hpp"
#include "launch/noded/stack_reader.hpp"
#include "launch/noded/stdin_forwarder.hpp"
#include "launch/noded/traffic_rebinder.hpp"
#include "launch/noded/tree_relay.hpp"

namespace zipmpi::launch {

class Daemon {
  public:
    Daemon(ParentConnection parent, NodeRange range, JobKey* secret);
    int run();

  private:
    void step(); // waits for events and handles them
    [[nodiscard]] int next_wait_ms() const;
    void on_frame(const ControlFrame& f);
    void on_signal_frame(int signal);
    void on_kernel_share(const ControlFrame& f);
    void on_routed(const RoutedMessage& m);
    void on_notify(uint32_t client, const PmiMessage& m); // from a rank or a gateway
    void on_child_failed(uint32_t child, ChildFailure how, const Diagnostic& why);
    void throttle();
    void on_deadlines();
    void finish_when_idle();
    void release_children();
    void send_exit_codes();

    void start(const std::string& payload);
    void start_job();
    bool prepare(SpawnDefaults& defaults, Diagnostic& why);
    void start_ranks(SpawnDefaults& defaults);
    [[nodiscard]] uint64_t descriptors_needed() const;

    NodeJob job_;
    EventLoop loop_;
    ParentLink parent_;
    TreeRelay relay_;
    RankProcesses ranks_;
    JobLifecycle lifecycle_;
    StdinForwarder input_;
    OutputForwarder outputs_;
    PmiService pmi_;
    PmixService pmix_;
    FaultRelay faults_;
    GatewaySupervisor gateways_;
    ExitMonitor exits_;
    TrafficRebinder rebinder_;
    StackReader stacks_;
};

} // namespace zipmpi::launch
