// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Several networks as one, for a rank on a host in several clusters. Each has the devices of its cluster and
// its own address, because UCX assumes that every address of a peer is reachable and would try those of the
// other cluster.
#pragma once

#include "bridge/subnetwork.hpp"
#include "os/fd.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace zipmpi::bridge {

using transport::Peer;
using transport::PostStatus;

class MultihomedNetwork final : public transport::FrameNetwork {
  public:
    // devices: per network. subnetwork_of: the network in which an id is reached.
    struct MultihomedConfig {
        std::vector<std::string> devices;
        std::function<int(int id)> subnetwork_of;
    };
    // Returns null on failure, with the reason in why.
    static std::unique_ptr<MultihomedNetwork> open(const transport::NetworkConfig& settings,
                                                   const transport::FrameConfig& frames,
                                                   const MultihomedConfig& plan, std::string& why);

    [[nodiscard]] const std::string& address() const override { return address_in(0); }
    [[nodiscard]] const std::string& address_in(size_t sub) const {
        return subnetworks_[sub].network().address();
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
                          transport::FrameTicket* ticket, transport::Batching batching) override;
    void flush_batches() override;
    void announce_end() override;
    [[nodiscard]] bool has_batches() const override;
    void release_frame(void* /*descriptor*/) override {} // none is passed on
    void reset_peer(Peer peer) override;
    void revoke_buffer(std::span<const std::byte> memory) override;
    [[nodiscard]] bool path_ready(Peer gateway) const override;

  private:
    explicit MultihomedNetwork(const MultihomedConfig& plan);
    [[nodiscard]] SubNetwork& subnetwork_of(int id) {
        return subnetworks_[static_cast<size_t>(config_.subnetwork_of(id))];
    }
    [[nodiscard]] transport::FrameNetwork& network_of(Peer peer) const {
        return subnetworks_[peers_[peer].subnetwork].network();
    }
    [[nodiscard]] transport::Network& take_owner(const transport::IncomingBulk& bytes) {
        return subnetworks_[peers_.take_owner(bytes)].network();
    }

    MultihomedConfig config_;
    SubnetworkPeers peers_;
    os::Fd epoll_;
    std::deque<SubNetwork> subnetworks_;
};

} // namespace zipmpi::bridge
