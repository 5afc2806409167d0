// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Network of a rank in a multi-cluster job: ranks in its own clusters are reached directly, others through
// the bridge endpoint. The protocols above see no difference.
#pragma once

#include "bridge/direct_events.hpp"
#include "bridge/gateway_frames.hpp"
#include "bridge/multihomed.hpp"
#include "bridge/sleep_descriptor.hpp"

namespace zipmpi::bridge {

// Separates the device lists of several clusters.
inline constexpr char device_group_separator = ';';

class MultiClusterNetwork final : public transport::Network {
  public:
    struct JobIdentity {
        std::string_view id;
        transport::auth::Key end_to_end; // between ranks in different clusters; gateways do not have it
    };
    // Connects to the gateways of this rank. Returns null on failure, with the reason in why. For a rank in
    // several clusters, the devices are one list per cluster.
    static std::unique_ptr<MultiClusterNetwork> open(const transport::NetworkConfig& settings,
                                                     const ClusterLocator& locator, const JobIdentity& job,
                                                     std::string& why);

    [[nodiscard]] const std::string& address() const override { return inner_->address(); }
    // Address of a multihomed rank in one of its clusters, by index.
    [[nodiscard]] const std::string& address_in(size_t own_cluster) const {
        return multihomed_ != nullptr ? multihomed_->address_in(own_cluster) : inner_->address();
    }
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
    [[nodiscard]] int descriptor() const override { return sleep_.get(); }
    bool arm() override;
    [[nodiscard]] bool idle() const override { return inner_->idle() && endpoint_.idle(); }
    void set_shutting_down(bool yes) override;
    void announce_end() override { inner_->announce_end(); }
    [[nodiscard]] bool has_pending_handshakes() const override { return inner_->has_pending_handshakes(); }
    [[nodiscard]] bool relays_bulk() const override { return relays_bulk_; }
    [[nodiscard]] uint64_t rejected_messages() const override { return inner_->rejected_messages(); }

    void connect_gateways() { paths_.connect(); }
    // Makes progress until the gateways have replied and frame connections are established: during startup
    // other ranks do the same, later the first message would wait for it. Limited in time, because gateways
    // may be down.
    void wait_until_ready();

  private:
    MultiClusterNetwork(const transport::NetworkConfig& settings, const ClusterLocator& locator,
                        uint64_t job);
    bool open_inner(const transport::NetworkConfig& settings, std::string& why);
    bool open_multihomed(const transport::NetworkConfig& inner, const transport::FrameConfig& frames,
                         std::string& why);
    void prepare_flows();

    int own_rank_;
    ClusterLocator locator_;
    transport::NetworkListener& protocols_;
    PeerNumbering peers_;
    std::unique_ptr<transport::auth::Aead> aead_; // if a link is not trusted
    GatewayPaths paths_;
    Endpoint endpoint_;
    GatewayFrames frames_;
    DirectEvents events_;
    std::vector<NetworkOperation*> batched_ops_; // sends whose frames may be batched
    SleepDescriptor sleep_;
    bool relays_bulk_ = false;                // at the last progress()
    MultihomedNetwork* multihomed_ = nullptr; // inner_ of a rank in several clusters
    // Last member: its destructor drops frames of the endpoint.
    std::unique_ptr<transport::FrameNetwork> inner_;
};

} // namespace zipmpi::bridge
