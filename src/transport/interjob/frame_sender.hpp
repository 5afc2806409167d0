// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Sends frames to external peers. Each side sends all its messages to a peer on one connection, which keeps
// their order; if both dial at once there are two connections, one per direction.
#pragma once

#include "transport/interjob/connection_setup.hpp"

namespace zipmpi::interjob {

using transport::PostStatus;

class FrameSender {
  public:
    FrameSender(ExternalPeers& peers, ConnectionTable& table, ConnectionSetup& setup, FrameWriter& writer)
        : peers_(peers)
        , table_(table)
        , setup_(setup)
        , writer_(writer) {}

    // Sends a frame. If its data is in flight, send_finished() follows.
    PostStatus post(int external, const FrameHeader& head, const std::byte* payload, const BufferRef& data);
    // For a frame without payload and data.
    PostStatus post(int external, FrameHeader::Kind kind, uint64_t number);
    // The connection for messages to a peer, dialed if there is none. Null: the peer has failed.
    Connection* connection_to(int external);

    // Sends a bye on all connections to the peer. A later message opens a new one.
    void send_bye(int external);
    void on_bye(Connection& c);
    // While it shuts down, this process replies to a bye with its own.
    void set_shutting_down(bool yes) { shutting_down_ = yes; }
    [[nodiscard]] bool is_shutting_down() const { return shutting_down_; }

  private:
    ExternalPeers& peers_;
    ConnectionTable& table_;
    ConnectionSetup& setup_;
    FrameWriter& writer_;
    bool shutting_down_ = false;
};

} // namespace zipmpi::interjob
