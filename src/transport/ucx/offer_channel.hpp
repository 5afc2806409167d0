// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Sends the offers of TCP streams over UCX, and tells the stream manager about the peers.
#pragma once

#include "transport/tcp/stream_peers.hpp"
#include "transport/ucx/peer_table.hpp"
#include "transport/ucx/send_requests.hpp"
#include "wire/stream_layout.hpp"

#include <cstring>

namespace zipmpi::transport::ucx {

class OfferChannel final : public tcp::StreamPeers {
  public:
    OfferChannel(PeerTable& peers, SendRequests& requests)
        : peers_(peers)
        , requests_(requests) {}

    [[nodiscard]] int id_of(Peer peer) const override { return peers_[peer].world_rank; }
    [[nodiscard]] int find(int id) const override {
        const PeerState* const peer = peers_.find(id);
        return peer != nullptr ? static_cast<int>(peer->index) : -1;
    }
    [[nodiscard]] bool has_failed(Peer peer) const override { return peers_[peer].failed; }
    [[nodiscard]] bool can_receive(Peer peer) const override { return peers_[peer].can_receive(); }
    void send_offer(Peer peer, std::span<const std::byte> offer) override {
        PeerState& to = peers_[peer];
        SendRequest& s = requests_.acquire();
        const size_t token_bytes = sizeof to.tokens.sending;
        std::memcpy(s.header, &to.tokens.sending, token_bytes);
        std::memcpy(s.header + token_bytes, offer.data(), offer.size());
        const ucs_status_t status = requests_.send(s, to.endpoint, wire::net_stream_offer,
                                                   std::span(s.header).first(token_bytes + offer.size()));
        if (status != UCS_OK) peers_.mark_failed(to, ucs_status_string(status));
    }

  private:
    PeerTable& peers_;
    SendRequests& requests_;
};

} // namespace zipmpi::transport::ucx
