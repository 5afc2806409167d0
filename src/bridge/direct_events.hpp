// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Events of the network in which a rank of a multi-cluster job reaches its direct peers and the gateways:
// those of peers go to the protocols, under their numbers; a failed gateway is a path that is down.
#pragma once

#include "bridge/endpoint.hpp"
#include "bridge/gateway_paths.hpp"
#include "bridge/peer_numbering.hpp"

namespace zipmpi::bridge {

class DirectEvents final : public transport::NetworkListener {
  public:
    DirectEvents(transport::NetworkListener& protocols, PeerNumbering& peers, GatewayPaths& paths,
                 Endpoint& endpoint)
        : protocols_(protocols)
        , peers_(peers)
        , paths_(paths)
        , endpoint_(endpoint) {}

    void message_arrived(const transport::Arrival& message) override;
    void rts_arrived(const transport::Arrival& message, transport::IncomingBulk& bytes,
                     uint64_t length) override;
    void send_finished(NetworkOperation* operation, OpStatus outcome) override;
    void fetch_finished(NetworkOperation* operation, OpStatus outcome) override;
    void peer_failed(Peer peer, const char* why) override;
    void connection_lost(Peer peer, const char* why) override; // of a rank: others detect failures
    void pack(NetworkOperation* operation, uint64_t offset, std::byte* to, size_t bytes) override;
    void unpack(NetworkOperation* operation, uint64_t offset, const std::byte* from, size_t bytes) override;
    size_t list_iov(NetworkOperation* operation, iovec* list, size_t most) override;

  private:
    [[nodiscard]] transport::Arrival renumbered(const transport::Arrival& a) {
        return {peers_.number_direct(a.from), a.envelope, a.payload, a.bulk, a.bulk_bytes};
    }

    transport::NetworkListener& protocols_;
    PeerNumbering& peers_;
    GatewayPaths& paths_;
    Endpoint& endpoint_;
};

} // namespace zipmpi::bridge
