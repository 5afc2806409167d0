// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Forwards frames from one network of this gateway to another, or over a link to another gateway. No state
// here has to survive: the endpoints retransmit lost frames.
#pragma once

#include "bridge/frame.hpp"
#include "bridge/routes.hpp"
#include "gateway/counters.hpp"
#include "transport/frame_network.hpp"
#include "transport/tcp/frame_stream.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>

namespace zipmpi::gateway {

using transport::Peer;
using transport::PostStatus;

struct GatewayConfig {
    bridge::ClusterMap cluster_map;
    int number = 0; // of this gateway
    int job_size = 0;
    uint64_t job = 0;
    uint64_t pool = 0;               // bytes that may be buffered here
    std::function<int(int)> node_of; // of a rank
    std::span<const uint8_t, wire::job_key_bytes> key;
};

class Forwarder;

// A frame on its way through the gateway, queued until its network or link accepts it.
struct InTransitFrame {
    std::vector<std::byte> head;
    std::vector<std::byte> copy;
    std::span<const std::byte> data;
    void* descriptor = nullptr;                     // of the network that it came from
    transport::tcp::FrameBuffer* spliced = nullptr; // holds the end of the data
    int from = -1;                                  // id of the previous hop
    int network = -1;                               // it arrived from; -1: a link
    uint64_t bytes = 0;
};

class Forwarder {
  public:
    Forwarder(GatewayConfig setting, GatewayStats& stats);
    // Opens the network of an attachment on these devices. book: addresses of ranks and gateways.
    bool open(int cluster, const std::string& devices, const transport::AddressResolver& book,
              std::string& why);
    [[nodiscard]] const std::string& address(int cluster) const;
    // Connects to all peers in its networks; after a restart they do not initiate the connection.
    void connect_all();
    // Polls all networks, or only those for which ready() was called or arm() failed.
    int progress(bool all);
    bool arm();
    [[nodiscard]] std::vector<int> descriptors() const;
    void ready(size_t network) { ports_[network].ready = true; } // its descriptor is readable

    // Handles a frame from a network or a link; all its bytes are valid during the call. Returns true if the
    // descriptor is kept.
    bool on_frame(int network, int from, std::span<const std::byte> head, std::span<const std::byte> data,
                  void* descriptor, transport::tcp::FrameBuffer* piped);
    void on_frame_sent(InTransitFrame* transit);
    bridge::RoutingTable& routes() { return routes_; }
    // The link to another gateway is up or down: sends route updates to the attached networks.
    void on_link_change(int gateway, bool up);
    [[nodiscard]] bool is_full() const {
        return counters_.buffered_bytes.load(std::memory_order_relaxed) >= config_.pool;
    }
    [[nodiscard]] const GatewayConfig& config() const { return config_; }
    [[nodiscard]] GatewayStats& stats() const { return stats_; }
    // Set by GatewayLinks. send_over_link passes a frame to the link with this index and returns false if it
    // is down. release_link_buffer releases descriptors of frames that arrived over a link.
    std::function<bool(int link, InTransitFrame* transit)> send_over_link;
    std::function<void(void* descriptor)> release_link_buffer;

  private:
    struct ClusterPort {
        Forwarder* owner;
        int index;
        int cluster;
        std::unique_ptr<transport::FrameNetwork> network;
        std::unordered_map<int, std::deque<InTransitFrame*>> waiting; // by id: handshake not complete
        std::unordered_map<int, uint64_t> credit_due;                 // credit, by id
        std::vector<Peer> to_reset;
        bool ready = true;
    };
    // Route of the last short frame: the next one probably takes it too.
    struct CachedRoute {
        int network = -1, from = -1, to = -1;
        ClusterPort* next = nullptr; // null: none
        Peer peer = 0;
        uint64_t* credit_due = nullptr; // of the sender
    };
    [[nodiscard]] transport::NetworkCallbacks callbacks_for(ClusterPort& a) const;
    bool reply_heartbeat(int network, int from, wire::Frame frame);
    void grant_credit(int network, int to, uint64_t bytes);
    void grant_credit(ClusterPort& a, int to, uint64_t& credit_due, uint64_t bytes);
    void send_route_update(ClusterPort& a, int id);
    void send_control(ClusterPort& a, int id, wire::Frame frame, std::span<const std::byte> content);
    [[nodiscard]] const bridge::Hop* hop_of(const wire::Frame& frame);
    [[nodiscard]] int id_at(const bridge::Hop& hop, const wire::Frame& frame) const;
    bool find_route(int network, int from, const wire::Frame& frame);
    bool forward_short(int network, int from, const wire::Frame& frame, std::span<const std::byte> bytes);
    bool forward(InTransitFrame* transit, const wire::Frame& frame);
    void count(const wire::Frame& frame, uint64_t bytes);
    bool send(ClusterPort& to, int id, InTransitFrame* transit);
    void send_queued(ClusterPort& to, int id);
    InTransitFrame* make_transit(int network, int from, const wire::Frame& frame,
                                 std::span<const std::byte> head, std::span<const std::byte> data,
                                 void* descriptor, bool& kept);
    void finish(InTransitFrame* transit);
    ClusterPort* port_in(int cluster);

    GatewayConfig config_;
    GatewayStats& stats_;
    GatewayCounters& counters_; // in stats_
    bridge::RoutingTable routes_;
    std::unordered_map<int, std::vector<bridge::Hop>> hops_; // by rank, until routes change
    std::deque<ClusterPort> ports_;
    CachedRoute cached_route_;
    // Being processed by on_frame(): its data must not be released yet.
    const InTransitFrame* current_ = nullptr;
    bool current_finished_ = false;
};

} // namespace zipmpi::gateway
