// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Connections that are not authenticated yet. The side that connects sends a hello with the token of the
// offer; the other replies. Both prove that they have the key of the job, and a token is valid for one
// connection.
#pragma once

#include "os/fd.hpp"
#include "transport/auth/handshake.hpp"
#include "transport/poll_counters.hpp"
#include "transport/tcp/event_poll.hpp"
#include "transport/tcp/stream_peers.hpp"
#include "wire/stream_layout.hpp"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace zipmpi::transport::tcp {

class StreamAuthenticator {
  public:
    struct Connection {
        Peer peer;
        os::Fd fd;
    };

    StreamAuthenticator(int own_id, const auth::HandshakeKeys& keys, const StreamPeers& peers,
                        EventPoll& events, PollCounters& counters);

    uint64_t issue_token(Peer peer); // for a new offer
    void revoke_token(Peer peer);
    void connect(Peer peer, const wire::StreamOffer& offer); // begins to connect
    void accept(os::Fd fd) { add(std::move(fd), 0, Side::acceptor); }
    // Continues a handshake. Returns the connection once its peer is authenticated.
    std::optional<Connection> serve(uint64_t number);
    void drop_expired();
    [[nodiscard]] bool empty() const { return pending_.empty(); }

  private:
    enum class Side { initiator, acceptor };
    struct PendingStream {
        os::Fd fd;
        Peer peer = 0; // of a connection made by this side
        Side side = Side::acceptor;
        bool request_sent = false;
        std::string in;
        std::array<uint8_t, wire::nonce_bytes> nonce{};
        uint64_t deadline_ns = 0;
    };
    enum class Progress { waiting, ended, authenticated };

    void add(os::Fd fd, Peer peer, Side side);
    Progress advance(uint64_t number, PendingStream& pending);
    bool send_hello(uint64_t number, PendingStream& pending);
    bool on_handshake(PendingStream& pending);
    [[nodiscard]] std::string message_to(Peer peer, uint16_t kind,
                                         std::span<const uint8_t, wire::nonce_bytes> nonce) const;
    uint64_t& token_of(Peer peer);

    int own_id_;
    auth::HandshakeKeys keys_;
    const StreamPeers& peers_;
    EventPoll& events_;
    PollCounters& counters_;
    std::vector<uint64_t> tokens_;              // of offers, by peer; 0: none, or used
    std::map<uint64_t, PendingStream> pending_; // by age
    uint64_t next_number_ = 0;
};

} // namespace zipmpi::transport::tcp
