// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Connections until both sides are authenticated: dialing, accepting, handshake, timeouts.
#pragma once

#include "transport/stream/frame_writer.hpp"
#include "transport/stream/peer_set.hpp"

namespace zipmpi::transport::stream {

class ConnectionSetup {
  public:
    struct Config {
        ProcessName own; // as peers address this process
        Sealing sealing;
    };
    ConnectionSetup(const Config& config, PeerSet& peers, ConnectionTable& table, FrameWriter& writer)
        : config_(config)
        , peers_(peers)
        , table_(table)
        , writer_(writer) {}

    // Dials a peer; the connection is used for messages to it. Returns null if no address is usable.
    Connection* dial_peer(int peer);
    void accept_connection(int listener);
    // A dialed connection is established, or has failed.
    void on_connected(Connection& c);
    // Bytes of the handshake message that the state expects; 0: none.
    [[nodiscard]] static size_t expected_bytes(Connection::State state);
    // Handles the next handshake message if it is complete. Returns false if it is invalid.
    bool on_handshake(Connection& c);
    // A dialed process may be another one than intended. Returns false if no address is left.
    bool try_next_address(Connection& c);
    // A key was added: continues handshakes that wait for it.
    void retry_parked();
    void check_timeouts();

    // The peer of a connection, also of one that it has not confirmed yet; -1: not known.
    [[nodiscard]] int peer_of(const Connection& c) const {
        return c.state == Connection::State::reply_sent ? peers_.find(c.setup.hello.from) : c.peer;
    }

  private:
    void evict_unauthenticated();
    void evict_unconfirmed(const ProcessName& from);
    bool dial_next(Connection& c);
    bool on_hello(Connection& c);
    bool reply_hello(Connection& c, std::string_view key);
    bool on_hello_reply(Connection& c);
    bool on_confirm(Connection& c);
    void begin_frames(Connection& c, std::string_view key, Side side);
    void check_timeout(Connection& c, uint64_t now);

    Config config_;
    PeerSet& peers_;
    ConnectionTable& table_;
    FrameWriter& writer_;
    uint64_t checked_ns_ = 0; // last check of timeouts
};

} // namespace zipmpi::transport::stream
