// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Connects peers. The first sender sends a hello; the other side answers with a hello reply. Each issues the
// other a token, so that after one round trip both can send. Crossing hellos are both answered.
#pragma once

#include "transport/auth/handshake.hpp"
#include "transport/ofi/send_requests.hpp"

namespace zipmpi::transport::ofi {

// What the connector reports.
class ConnectionListener {
  public:
    virtual void peer_connected(PeerState& peer) = 0; // it can be sent to
    virtual void peer_reset(PeerState& peer) = 0;     // what is in flight from and to it is void

  protected:
    ~ConnectionListener() = default;
};

class Connector {
  public:
    struct Config {
        int own_rank;
        auth::HandshakeKeys keys;
        AddressResolver* resolver;
    };

    Connector(const Config& config, Endpoint& endpoint, PeerTable& peers, SendRequests& requests,
              ConnectionListener& listener, NetworkListener& network_listener, PollCounters& counters)
        : config_(config)
        , endpoint_(endpoint)
        , peers_(peers)
        , requests_(requests)
        , listener_(listener)
        , network_listener_(network_listener)
        , counters_(counters) {}

    int connect_to(int world_rank);
    void fail_peer(int world_rank);
    void reset_peer(PeerState& peer);
    [[nodiscard]] bool has_pending_handshakes() const;
    // Detects peers that no longer respond.
    void check_peers() {
        if (peers_.any_lost()) [[unlikely]]
            report_lost_connections();
        if (peers_.any_may_have_ended() && !requests_.idle()) [[unlikely]]
            give_up_ended();
    }
    void peer_left(PeerState& peer);
    void handshake_arrived(std::span<const std::byte> bytes);

  private:
    PeerState& peer_for(int world_rank);
    void report_lost_connections();
    void give_up_ended();
    bool set_address(PeerState& peer, std::string_view contact);
    void send_handshake(PeerState& peer, uint16_t kind, std::span<const uint8_t, wire::nonce_bytes> nonce);
    void on_hello(const auth::VerifiedMessage& hello);
    void on_hello_reply(const auth::VerifiedMessage& reply);

    Config config_;
    Endpoint& endpoint_;
    PeerTable& peers_;
    SendRequests& requests_;
    ConnectionListener& listener_;
    NetworkListener& network_listener_;
    PollCounters& counters_;
};

} // namespace zipmpi::transport::ofi
