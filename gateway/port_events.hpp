// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Events of the network of one cluster, for the forwarder.
#pragma once

#include "transport/frame_network.hpp"

namespace zipmpi::gateway {

class ClusterPort;
class Forwarder;

class PortEvents final : public transport::NetworkListener, public transport::FrameListener {
  public:
    PortEvents(Forwarder& forwarder, ClusterPort& port)
        : forwarder_(forwarder)
        , port_(port) {}

    bool frame_arrived(const transport::FrameArrival& frame) override;
    void frame_sent(transport::FrameTicket* ticket) override;
    void peer_connected(transport::Peer peer, int id) override;
    void peer_failed(transport::Peer peer, const char* why) override;
    // Ranks send only frames to gateways, no messages.
    void message_arrived(const transport::Arrival&) override {}
    void rts_arrived(const transport::Arrival& message, transport::IncomingBulk& bytes,
                     uint64_t length) override;
    void send_finished(transport::NetworkOperation*, transport::OpStatus) override {}
    void fetch_finished(transport::NetworkOperation*, transport::OpStatus) override {}
    void pack(transport::NetworkOperation*, uint64_t, std::byte*, size_t) override {}
    void unpack(transport::NetworkOperation*, uint64_t, const std::byte*, size_t) override {}
    size_t list_iov(transport::NetworkOperation*, iovec*, size_t) override { return 0; }

  private:
    Forwarder& forwarder_;
    ClusterPort& port_;
};

} // namespace zipmpi::gateway
