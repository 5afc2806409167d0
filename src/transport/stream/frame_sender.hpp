// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Sends frames to peers. Each side sends all its messages to a peer on one connection, which keeps their
// order; if both dial at once there are two connections, one per direction.
#pragma once

#include "transport/stream/connection_setup.hpp"

#include <span>

namespace zipmpi::transport::stream {

// Whether a frame may wait for the next progress(), to share a system call with others.
enum class Timing { now, may_wait };

class FrameSender {
  public:
    FrameSender(PeerSet& peers, ConnectionTable& table, ConnectionSetup& setup, FrameWriter& writer)
        : peers_(peers)
        , table_(table)
        , setup_(setup)
        , writer_(writer) {}

    // Sends a frame. If it is in flight, send_finished() follows; without an operation it is never in flight.
    PostStatus post(int peer, const FrameHeader& head, const std::byte* payload, const BufferRef& data,
                    Timing timing = Timing::now);
    // For a frame without payload and data.
    PostStatus post(int peer, FrameHeader::Kind kind, uint64_t number);
    // For a frame with data that is copied.
    PostStatus post_copy(int peer, FrameHeader::Kind kind, std::span<const std::byte> first,
                         std::span<const std::byte> second, Timing timing);
    // The connection for messages to a peer, dialed if there is none. Null: the peer has failed.
    Connection* connection_to(int peer);

    // Sends a bye on all connections to the peer. A later message opens a new one.
    void send_bye(int peer);
    // Tells peers that this process may exit; it can still send.
    void announce_end();
    void on_bye(Connection& c);
    // While it shuts down, this process replies to a bye with its own.
    void set_shutting_down(bool yes) { shutting_down_ = yes; }
    [[nodiscard]] bool is_shutting_down() const { return shutting_down_; }

  private:
    [[nodiscard]] bool may_defer(Connection& c, Timing timing) const;
    void append(Connection& c, FrameHeader::Kind kind);
    bool write_now(Connection& c, QueuedFrame& out);
    PostStatus queue(Connection& c, QueuedFrame out, Timing timing);

    PeerSet& peers_;
    ConnectionTable& table_;
    ConnectionSetup& setup_;
    FrameWriter& writer_;
    bool shutting_down_ = false;
};

} // namespace zipmpi::transport::stream
