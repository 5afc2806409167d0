// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Network of a rank in a multi-cluster job: ranks in its own clusters are reached directly, others through
// the bridge endpoint. The protocols above see no difference.
#pragma once

#include "bridge/endpoint.hpp"
#include "bridge/routes.hpp"
#include "os/fd.hpp"
#include "transport/frame_network.hpp"

namespace zipmpi::bridge {

// Locates ranks in the cluster map.
struct ClusterLocator {
    std::shared_ptr<const ClusterMap> cluster_map;
    int job_size = 0;
    void* subject = nullptr;
    int (*node_of)(void* subject, int world_rank) = nullptr;

    [[nodiscard]] const std::vector<int>& clusters_of(int world_rank) const {
        return cluster_map->nodes[static_cast<size_t>(node_of(subject, world_rank))].clusters;
    }
    // The cluster in which a rank reaches another rank or a gateway; -1: none.
    [[nodiscard]] int cluster_to(int own_rank, int id) const {
        return first_shared_cluster(
            clusters_of(own_rank),
            id < job_size ? clusters_of(id)
                          : bridge::clusters_of(cluster_map->gateways[static_cast<size_t>(id - job_size)]));
    }
};

// Separates the device lists of several clusters.
inline constexpr char device_group_separator = ';';

// Id of a job in frames.
uint64_t job_number(std::string_view job_id);
// From the parameters.
EndpointLimits endpoint_limits();
uint64_t gateway_buffer_limit();
uint64_t gateway_spin_ns();
bool gateway_prints_stats();
bool uses_frame_streams();

class MultiClusterNetwork final : public transport::Network {
  public:
    // Connects to the gateways of this rank. Returns null on failure, with the reason in why. For a rank in
    // several clusters, the devices are one list per cluster.
    static std::unique_ptr<MultiClusterNetwork> open(const transport::NetworkConfig& settings,
                                                     const ClusterLocator& locator, std::string_view job_id,
                                                     std::string& why);

    [[nodiscard]] const std::string& address() const override { return inner_->address(); }
    // Address of a multihomed rank in one of its clusters, by index.
    [[nodiscard]] const std::string& address_in(size_t own_cluster) const;
    int connect_to(int world_rank) override;
    [[nodiscard]] int rank_of(Peer peer) const override;
    void fail_peer(int world_rank) override;
    [[nodiscard]] uint64_t rendezvous_threshold(Peer peer) const override;
    [[nodiscard]] uint64_t max_eager(Peer peer) const override;
    PostStatus send(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                    const BufferRef& data) override;
    PostStatus send_batched(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                            const BufferRef& data) override;
    PostStatus send_rendezvous(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                               const BufferRef& data) override;
    void fetch(transport::IncomingBulk& bytes, const BufferRef& to) override;
    void drop(transport::IncomingBulk& bytes) override;
    int progress() override;
    [[nodiscard]] int descriptor() const override { return epoll_.get(); }
    bool arm() override;
    [[nodiscard]] bool idle() const override;
    void set_shutting_down(bool yes) override { endpoint_.set_shutting_down(yes); }
    [[nodiscard]] bool has_pending_handshakes() const override { return inner_->has_pending_handshakes(); }
    [[nodiscard]] uint64_t rejected_messages() const override { return inner_->rejected_messages(); }

    void connect_gateways();
    // Makes progress until the gateways have replied and frame connections are established: during startup
    // other ranks do the same, later the first message would wait for it. Limited in time, because gateways
    // may be down.
    void wait_until_ready();
    [[nodiscard]] const EndpointStats& counters() const { return endpoint_.counters(); }

  private:
    struct PeerRoute { // of a peer as numbered for the protocols
        bool relayed;
        Peer inner; // index in the endpoint or in the inner network
    };
    struct PathState {
        int gateway = -1;
        int peer = -1;              // in the inner network
        bool reset_pending = false; // at the next progress()
        uint64_t retry_ns = 0;      // when to connect again; 0: the gateway will
        std::vector<int> blocked;   // clusters that it cannot reach
    };
    MultiClusterNetwork(const transport::NetworkConfig& settings, const ClusterLocator& locator,
                        std::string_view job_id);
    template <bool far>
    [[nodiscard]] transport::NetworkCallbacks forwarding_callbacks(); // to the protocols, peers renumbered
    [[nodiscard]] transport::NetworkCallbacks inner_callbacks();
    [[nodiscard]] transport::NetworkCallbacks endpoint_callbacks();
    [[nodiscard]] EndpointIo endpoint_io();
    Peer outer_peer(bool relayed, Peer inner);
    [[nodiscard]] int path_of(int id) const;
    [[nodiscard]] bool shares_cluster_with(int world_rank) const;
    [[nodiscard]] std::vector<int> paths_to(int world_rank) const;
    std::unique_ptr<transport::FrameNetwork> open_inner(const transport::NetworkConfig& inner,
                                                        std::string& why);
    int check_paths();
    bool set_timer(uint64_t due);
    [[nodiscard]] bool paths_ready() const;
    void prepare_flows();
    void on_route_update(int path, std::span<const std::byte> head, std::span<const std::byte> data);

    int own_rank_;
    ClusterLocator locator_;
    uint64_t job_;
    transport::NetworkCallbacks callbacks_; // of the protocols
    RoutingTable routes_;
    std::vector<PathState> paths_;
    std::vector<PeerRoute> peers_;
    std::vector<int> by_direct_, by_relayed_; // index in peers_; -1: none
    std::unordered_map<int, int> by_rank_;
    std::unique_ptr<transport::auth::Aead> aead_; // if a link is not trusted
    Endpoint endpoint_;
    bool batching_ = false;          // frames sent now may be batched
    std::vector<void*> batched_ops_; // sends whose frames may be batched
    os::Fd epoll_, timer_;
    uint64_t timer_ns_ = 0; // expiry of the timer; 0: not set
    // Last member: its destructor drops frames of the endpoint.
    std::unique_ptr<transport::FrameNetwork> inner_;
};

} // namespace zipmpi::bridge
