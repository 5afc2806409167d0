// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Connections of a rank to its gateways, which are the paths of its endpoint: sends frames, reconnects, and
// knows which clusters each gateway reaches.
#pragma once

#include "bridge/cluster_locator.hpp"
#include "bridge/path_set.hpp"
#include "bridge/routes.hpp"
#include "os/clock.hpp"

namespace zipmpi::bridge {

class GatewayPaths final : public EndpointIo {
  public:
    GatewayPaths(int own_rank, const ClusterLocator& locator);
    void use_network(transport::FrameNetwork& network) { network_ = &network; }
    // Whether frames sent now may be batched.
    void set_batching(transport::Batching batching) { batching_ = batching; }

    void connect();
    // Resets connections that have failed, and retries others. Returns the number of events. Not to be
    // called by a listener.
    int reconnect();
    [[nodiscard]] bool has_pending_reset() const;
    [[nodiscard]] uint64_t next_retry_ns() const; // ~0: none
    // Gateways have replied and frame connections are established, or will not be.
    [[nodiscard]] bool all_ready(const PathSet& paths) const;

    [[nodiscard]] int path_of(int id) const; // -1: not a gateway
    [[nodiscard]] bool is_gateway(Peer peer) const { return path_of(network_->rank_of(peer)) >= 0; }
    [[nodiscard]] bool has_route_to(int world_rank) const;
    // The path of a peer whose connection has failed; -1: none.
    int on_peer_failed(Peer peer);
    void on_connected(int path, Peer peer);
    // A gateway reaches, or no longer reaches, a cluster. Returns whether this has changed.
    bool on_route_update(int path, const wire::RouteUpdate& update);

    PostStatus send(int path, std::span<const std::byte> head, std::span<const std::byte> data,
                    FrameTicket* ticket) override;
    void close_path(int path) override;
    void revoke_buffer(std::span<const std::byte> memory) override { network_->revoke_buffer(memory); }
    [[nodiscard]] bool is_relayed(int id) const override {
        return id < locator_.job_size && id != own_rank_ && !locator_.share_cluster(own_rank_, id);
    }
    [[nodiscard]] std::vector<int> paths_to(int world_rank) const override;
    [[nodiscard]] uint64_t now_ns() const override { return os::now_ns(); }

  private:
    struct Connection {
        int peer = -1;              // in the network
        bool reset_pending = false; // at the next reconnect()
        uint64_t retry_ns = 0;      // when to connect again; 0: the gateway will
        std::vector<int> blocked;   // clusters that it cannot reach
    };
    [[nodiscard]] Connection& at(int path) { return connections_[static_cast<size_t>(path)]; }
    [[nodiscard]] int size() const { return static_cast<int>(connections_.size()); }

    int own_rank_;
    const ClusterLocator& locator_;
    RoutingTable routes_;
    std::vector<Connection> connections_; // by gateway
    transport::FrameNetwork* network_ = nullptr;
    transport::Batching batching_ = transport::Batching::forbidden;
};

} // namespace zipmpi::bridge
