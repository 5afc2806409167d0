// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Connects peers. The first sender sends a hello; the other side answers with a hello reply. Each issues the
// other a token, so that after one round trip both can send. Crossing hellos are both answered.
#pragma once

#include "transport/auth/handshake.hpp"
#include "transport/ucx/peer_table.hpp"
#include "transport/ucx/retired_endpoints.hpp"
#include "transport/ucx/send_requests.hpp"

namespace zipmpi::transport::ucx {

// What the connector reports.
class ConnectionListener {
  public:
    virtual void peer_connected(PeerState& peer) = 0; // it can be sent to
    virtual void peer_reset(PeerState& peer) = 0;     // what is queued from and for it is void

  protected:
    ~ConnectionListener() = default;
};

class Connector {
  public:
    struct Config {
        int own_rank;
        int detect_from; // detect failures of ranks from here on
        auth::HandshakeKeys keys;
        AddressResolver* resolver;
    };

    Connector(const Config& config, UcxWorker& worker, PeerTable& peers, SendRequests& requests,
              ConnectionListener& listener, PollCounters& counters)
        : config_(config)
        , worker_(worker)
        , peers_(peers)
        , requests_(requests)
        , listener_(listener)
        , counters_(counters) {}

    bool listen(); // registers the receivers
    int connect_to(int world_rank);
    void fail_peer(int world_rank);
    void reset_peer(Peer peer);
    void close_all();
    // Handles received hellos and closes retired endpoints. Must not run within a UCX callback: UCX may still
    // hold an event of an endpoint that is closed or created here.
    void progress() {
        if (!pending_hellos_.empty()) process_hellos();
        retired_.close_due();
    }
    [[nodiscard]] bool has_pending_handshakes() const;

  private:
    PeerState& peer_for(int world_rank);
    bool connect(PeerState& peer, std::string_view address);
    void disconnect(PeerState& peer);
    void reset_state(PeerState& peer);
    void send_handshake(PeerState& peer, uint16_t kind, std::span<const uint8_t, wire::nonce_bytes> nonce);
    void process_hellos();
    void on_hello(std::span<const std::byte> bytes);
    void on_hello_reply(std::span<const std::byte> bytes);
    void set_token(PeerState& peer, uint64_t token);
    [[nodiscard]] bool detects_failures_of(const PeerState& peer) const {
        return peer.world_rank >= config_.detect_from;
    }

    static ucs_status_t on_handshake(void* self, const void*, size_t, void* data, size_t length,
                                     const ucp_am_recv_param_t* param);
    static void on_ep_error(void* self, ucp_ep_h endpoint, ucs_status_t status);

    Config config_;
    UcxWorker& worker_;
    PeerTable& peers_;
    SendRequests& requests_;
    ConnectionListener& listener_;
    PollCounters& counters_;
    RetiredEndpoints retired_;
    std::vector<std::vector<std::byte>> pending_hellos_; // received in this poll
};

} // namespace zipmpi::transport::ucx
