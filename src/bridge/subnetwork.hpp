// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One of the networks of a multihomed rank: passes its events on, with its peers numbered among those of all.
#pragma once

#include "transport/frame_network.hpp"

#include <memory>
#include <unordered_map>
#include <vector>

namespace zipmpi::bridge {

// Peers of all subnetworks under one numbering, and the long messages that they have announced.
class SubnetworkPeers {
  public:
    struct SubPeer {
        size_t subnetwork;
        transport::Peer inner;
    };
    transport::Peer add(SubPeer peer) {
        peers_.push_back(peer);
        return static_cast<transport::Peer>(peers_.size() - 1);
    }
    [[nodiscard]] const SubPeer& operator[](transport::Peer peer) const { return peers_[peer]; }
    void set_owner(const transport::IncomingBulk& bytes, size_t subnetwork) {
        owners_.emplace(&bytes, subnetwork);
    }
    size_t take_owner(const transport::IncomingBulk& bytes) {
        const auto found = owners_.find(&bytes);
        if (found == owners_.end()) return 0;
        const size_t subnetwork = found->second;
        owners_.erase(found);
        return subnetwork;
    }

  private:
    std::vector<SubPeer> peers_;
    std::unordered_map<const transport::IncomingBulk*, size_t> owners_; // subnetwork of each
};

class SubNetwork final : public transport::NetworkListener, public transport::FrameListener {
  public:
    SubNetwork(size_t index, SubnetworkPeers& peers, transport::NetworkListener& listener,
               transport::FrameListener& frames)
        : index_(index)
        , peers_(peers)
        , listener_(listener)
        , frames_(frames) {}
    // Returns false on failure, with the reason in why.
    bool open(transport::NetworkConfig settings, transport::FrameConfig frames, std::string& why);
    [[nodiscard]] transport::FrameNetwork& network() const { return *network_; }
    transport::Peer outer_peer(transport::Peer inner);

    void message_arrived(const transport::Arrival& message) override;
    void rts_arrived(const transport::Arrival& message, transport::IncomingBulk& bytes,
                     uint64_t length) override;
    void send_finished(transport::NetworkOperation* operation, transport::OpStatus outcome) override;
    void fetch_finished(transport::NetworkOperation* operation, transport::OpStatus outcome) override;
    void peer_failed(transport::Peer peer, const char* why) override;
    void connection_lost(transport::Peer peer, const char* why) override;
    void pack(transport::NetworkOperation* operation, uint64_t offset, std::byte* to, size_t bytes) override;
    void unpack(transport::NetworkOperation* operation, uint64_t offset, const std::byte* from,
                size_t bytes) override;
    size_t list_iov(transport::NetworkOperation* operation, iovec* list, size_t most) override;
    bool frame_arrived(const transport::FrameArrival& frame) override;
    void frame_sent(transport::FrameTicket* ticket) override;
    void peer_connected(transport::Peer peer, int id) override;

  private:
    size_t index_;
    SubnetworkPeers& peers_;
    transport::NetworkListener& listener_;
    transport::FrameListener& frames_;
    std::vector<int> outer_peers_; // by inner peer; -1: none
    std::unique_ptr<transport::FrameNetwork> network_;
};

} // namespace zipmpi::bridge
