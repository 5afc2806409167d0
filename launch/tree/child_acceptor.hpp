// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Accepts and authenticates the connections of child daemons. Listens on numeric local addresses until it is
// closed.
#pragma once

#include "launch/protocol/event_loop.hpp"
#include "launch/protocol/frame_socket.hpp"
#include "launch/protocol/handshake.hpp"
#include "launch/protocol/messages.hpp"
#include "launch/protocol/socket_address.hpp"

#include "base/diagnostic.hpp"

#include <functional>
#include <optional>

namespace zipmpi::launch {

class ChildAcceptor {
  public:
    struct Authenticated { // a daemon has proved that it knows the key of the job
        uint32_t node;
        os::Fd socket;
        std::string reply; // last message of the handshake
        FrameSocket::Records records;
    };
    using OnAuthenticated = std::function<void(Authenticated child)>;

    ChildAcceptor(EventLoop& loop, OnAuthenticated on_authenticated);
    bool listen(const LaunchTree& plan, Diagnostic& why);
    // Needed before connections are accepted. Takes a moment, so agents are started before.
    bool begin_handshakes(const JobKey& secret, Diagnostic& why);
    [[nodiscard]] const std::vector<SocketAddress>& addresses() const { return addresses_; }
    void on_time(uint64_t now);               // closes connections that have not authenticated in time
    [[nodiscard]] uint64_t next_time() const; // UINT64_MAX: none
    void close();

  private:
    struct PendingChild {
        os::Fd socket;
        std::optional<HandshakeAcceptor> handshake;
        uint64_t deadline = 0;
    };
    void on_listener(uint32_t listener);
    void on_pending_child(uint32_t index);

    EventLoop& loop_;
    OnAuthenticated on_authenticated_;
    EventLoop::Source listener_source_, pending_source_;
    JobKey key_{}; // for control connections
    const Crypto* crypto_ = nullptr;
    std::vector<SocketAddress> addresses_;
    std::vector<os::Fd> listeners_;
    std::vector<PendingChild> pending_children_; // fixed size
};

} // namespace zipmpi::launch
