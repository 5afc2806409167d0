// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What happens to flows when paths fail and return, gateways and peers are silent, and this rank is about to
// exit: retransmission, repeated state, failure of peers.
#pragma once

#include "bridge/flow_receiver.hpp"
#include "bridge/flow_sender.hpp"
#include "bridge/flow_table.hpp"

namespace zipmpi::bridge {

class FlowRecovery {
  public:
    FlowRecovery(const EndpointLimits& limits, EndpointIo& io, transport::NetworkListener& listener,
                 PathSet& paths, FlowTable& flows, FlowSender& sender, FlowReceiver& receiver)
        : limits_(limits)
        , io_(io)
        , listener_(listener)
        , paths_(paths)
        , flows_(flows)
        , sender_(sender)
        , receiver_(receiver) {}

    void path_up(int path);
    void path_down(int path);
    void reroute();
    void fail(Flow& flow); // the peer is no longer reachable
    // Check for timeouts. Return the number of events.
    int check(uint64_t now) { return check_paths(now) + check_flows(now); }
    int check_shutdown(uint64_t now);
    void begin_shutdown();
    void cancel_shutdown() { shutdown_since_ns_ = 0; }
    [[nodiscard]] bool is_shutting_down() const { return shutdown_since_ns_ != 0; }

  private:
    void send_state(Flow& flow);
    int check_paths(uint64_t now);
    int check_flows(uint64_t now);
    void retransmit_elsewhere(UnackedFrame& unacked);
    int retransmit_late(int path, uint64_t now);
    bool close_if_timed_out(int path, uint64_t now);
    bool fail_if_partitioned(Flow& flow, uint64_t now);

    const EndpointLimits& limits_;
    EndpointIo& io_;
    transport::NetworkListener& listener_;
    PathSet& paths_;
    FlowTable& flows_;
    FlowSender& sender_;
    FlowReceiver& receiver_;
    uint64_t shutdown_since_ns_ = 0; // 0: not shutting down
};

} // namespace zipmpi::bridge
