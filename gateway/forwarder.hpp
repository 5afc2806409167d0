// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Forwards frames from one network of this gateway to another, or over a link to another gateway. No state
// here has to survive: the endpoints retransmit lost frames.
#pragma once

#include "gateway/cluster_port.hpp"
#include "gateway/next_hops.hpp"
#include "gateway/port_events.hpp"

namespace zipmpi::gateway {

// Which networks to poll: all, or those that set_ready() and arm() have marked.
enum class PollScope { all, ready };

class Forwarder {
  public:
    Forwarder(GatewayConfig setting, GatewayStats& stats);
    Forwarder(const Forwarder&) = delete; // its components refer to each other
    Forwarder& operator=(const Forwarder&) = delete;
    // Opens the network of an attachment on these devices. book: addresses of ranks and gateways.
    bool open(int cluster, const std::string& devices, transport::AddressResolver& book, std::string& why);
    [[nodiscard]] const std::string& address(int cluster) const;
    // Connects to all peers in its networks; after a restart they do not initiate the connection.
    void connect_all();
    int progress(PollScope scope);
    bool arm();
    [[nodiscard]] std::vector<int> descriptors() const;
    void set_ready(size_t network) { ports_[network].set_ready(); } // its descriptor is readable

    // Handles a frame from a network or a link. Returns true if its data is kept.
    bool on_frame(const IncomingFrame& incoming);
    void on_frame_sent(InTransitFrame& transit); // or dropped
    void on_peer_connected(ClusterPort& port, int id);
    // The link to another gateway is up or down: sends route updates to the attached networks.
    void on_link_up(int gateway);
    void on_link_down(int gateway);
    [[nodiscard]] bool is_full() const {
        return counters_.buffered_bytes.load(std::memory_order_relaxed) >= config_.pool;
    }
    [[nodiscard]] const GatewayConfig& config() const { return config_; }
    [[nodiscard]] GatewayStats& stats() const { return stats_; }
    void use_links(LinkSender* links) { links_ = links; } // null: none

  private:
    // Route of the last short frame: the next one probably takes it too.
    struct CachedRoute {
        int network = -1, from = -1, to = -1;
        ClusterPort* next = nullptr; // null: none
        Peer peer = 0;
        uint64_t* credit_due = nullptr; // of the sender
    };
    bool reply_heartbeat(const IncomingFrame& incoming, wire::Frame frame);
    void send_route_updates();
    void send_route_update(ClusterPort& port, int id);
    bool find_route(const IncomingFrame& incoming, const wire::Frame& frame);
    bool forward_short(const IncomingFrame& incoming, const wire::Frame& frame);
    bool forward(InTransitFrame& transit, const wire::Frame& frame);
    void count(const wire::Frame& frame, uint64_t bytes);
    bool send(ClusterPort& to, int id, InTransitFrame& transit);
    void on_peer_reset(ClusterPort& port, int id);
    void drop(ClusterPort& port, InTransitFrame& transit);
    void release(const InTransitFrame& transit);
    [[nodiscard]] ClusterPort& port_at(int network) { return ports_[static_cast<size_t>(network)]; }
    ClusterPort* port_in(int cluster);

    GatewayConfig config_;
    GatewayStats& stats_;
    GatewayCounters& counters_; // in stats_
    NextHops hops_;
    LinkSender* links_ = nullptr;
    std::deque<PortEvents> events_; // of ports_
    std::deque<ClusterPort> ports_;
    CachedRoute cached_route_;
    // Being processed by on_frame(): its data must not be released yet.
    const InTransitFrame* current_ = nullptr;
    bool current_finished_ = false;
};

} // namespace zipmpi::gateway
