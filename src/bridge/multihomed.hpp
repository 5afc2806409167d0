// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Several networks as one, for a rank on a host in several clusters. Each has the devices of its cluster and
// its own address, because UCX assumes that every address of a peer is reachable and would try those of the
// other cluster.
#pragma once

#include "os/fd.hpp"
#include "transport/frame_network.hpp"

#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

namespace zipmpi::bridge {

using transport::Peer;
using transport::PostStatus;

class MultihomedNetwork final : public transport::FrameNetwork {
  public:
    // devices: per network. subnetwork_of: the network in which an id is reached.
    struct MultihomedConfig {
        std::vector<std::string> devices;
        void* subject = nullptr;
        int (*subnetwork_of)(void* subject, int id) = nullptr;
    };
    // Returns null on failure, with the reason in why.
    static std::unique_ptr<MultihomedNetwork> open(const transport::NetworkConfig& settings,
                                                   const transport::FrameConfig& frames,
                                                   const MultihomedConfig& plan, std::string& why);

    [[nodiscard]] const std::string& address() const override { return address_in(0); }
    [[nodiscard]] const std::string& address_in(size_t sub) const {
        return subnetworks_[sub].network->address();
    }
    int connect_to(int id) override;
    [[nodiscard]] int rank_of(Peer peer) const override;
    void fail_peer(int id) override;
    [[nodiscard]] uint64_t rendezvous_threshold(Peer peer) const override;
    PostStatus send(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                    const transport::BufferRef& data) override;
    PostStatus send_batched(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                            const transport::BufferRef& data) override;
    PostStatus send_rendezvous(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                               const transport::BufferRef& data) override;
    void fetch(transport::IncomingBulk& bytes, const transport::BufferRef& to) override;
    void drop(transport::IncomingBulk& bytes) override;
    int progress() override;
    [[nodiscard]] int descriptor() const override { return epoll_.get(); }
    bool arm() override;
    [[nodiscard]] bool idle() const override;
    [[nodiscard]] bool has_pending_handshakes() const override;
    [[nodiscard]] uint64_t rejected_messages() const override;
    PostStatus send_frame(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data,
                          void* ticket, bool may_wait) override;
    void flush_batches() override;
    [[nodiscard]] bool has_batches() const override;
    void reset_peer(Peer peer) override;
    void revoke_buffer(std::span<const std::byte> memory) override;
    [[nodiscard]] bool path_ready(Peer gateway) const override;

  private:
    struct SubNetwork {
        MultihomedNetwork* owner;
        size_t index;
        std::unique_ptr<transport::FrameNetwork> network;
        std::vector<int> outer_peers; // by inner peer; -1: none
    };
    struct SubPeer {
        size_t subnetwork;
        Peer inner;
    };
    MultihomedNetwork(const transport::NetworkConfig& settings, const MultihomedConfig& plan);
    [[nodiscard]] transport::NetworkCallbacks callbacks_for(SubNetwork& sub) const;
    SubNetwork& subnetwork_of(int id);
    Peer outer_peer(SubNetwork& sub, Peer inner);
    [[nodiscard]] transport::FrameNetwork& network_of(Peer peer) const {
        return *subnetworks_[peers_[peer].subnetwork].network;
    }
    transport::Network& take_owner(const transport::IncomingBulk& bytes);

    transport::NetworkCallbacks callbacks_;
    MultihomedConfig config_;
    std::vector<SubPeer> peers_;
    std::unordered_map<const void*, size_t> owners_; // subnetwork of each rendezvous message
    os::Fd epoll_;
    std::deque<SubNetwork> subnetworks_;
};

} // namespace zipmpi::bridge
