// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The network of one of the clusters of a gateway: sends frames, queues those whose receiver has not
// completed the handshake, and returns credit to senders.
#pragma once

#include "gateway/transit.hpp"

#include <deque>
#include <memory>
#include <unordered_map>

namespace zipmpi::gateway {

using transport::Peer;
using transport::PostStatus;

class ClusterPort {
  public:
    // As in control frames: this gateway and its job.
    struct Sender {
        int id;
        uint64_t job;
    };
    ClusterPort(int index, int cluster, Sender self, GatewayStats& stats)
        : index_(index)
        , cluster_(cluster)
        , self_(self)
        , counters_(stats.totals)
        , port_counters_(stats.network(index)) {}
    // Returns false on failure, with the reason in why.
    bool open(const transport::NetworkConfig& settings, const transport::FrameConfig& frames,
              std::string& why);

    [[nodiscard]] int index() const { return index_; }
    [[nodiscard]] int cluster() const { return cluster_; }
    [[nodiscard]] transport::FrameNetwork& network() const { return *network_; }
    [[nodiscard]] PortCounters& counters() const { return port_counters_; }

    // done: sent; in_flight: the network has it and frame_sent() follows, or it is queued until
    // take_waiting(); failed: not reachable.
    PostStatus send(int id, InTransitFrame& transit);
    // Frames that were queued for a peer, which is connected now or has failed.
    [[nodiscard]] std::deque<InTransitFrame*> take_waiting(int id);
    // Control frames are short and go to adjacent processes only.
    void send_control(int id, wire::Frame frame, std::span<const std::byte> content);
    // Credit of a sender, returned when enough has accumulated.
    [[nodiscard]] uint64_t& credit_due(int id) { return credit_due_[id]; }
    void grant_credit(int id, uint64_t& due, uint64_t bytes);

    void on_peer_failed(Peer peer) { to_reset_.push_back(peer); } // reset by reset_failed_peers()
    void on_peer_connected(Peer peer) { std::erase(to_reset_, peer); }
    [[nodiscard]] std::vector<int> reset_failed_peers(); // their ids
    bool arm();
    // Its descriptor is readable, or it has other work.
    void set_ready() { ready_ = true; }
    [[nodiscard]] bool take_ready() { return std::exchange(ready_, false); }

  private:
    int index_;
    int cluster_;
    Sender self_;
    GatewayCounters& counters_;
    PortCounters& port_counters_;
    std::unordered_map<int, std::deque<InTransitFrame*>> waiting_; // by id: handshake not complete
    std::unordered_map<int, uint64_t> credit_due_;                 // by id
    std::vector<Peer> to_reset_;
    bool ready_ = true;
    std::unique_ptr<transport::FrameNetwork> network_;
};

} // namespace zipmpi::gateway
