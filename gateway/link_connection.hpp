// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One TCP connection to another gateway. Begins with the handshake of the daemons
// (launch/protocol/handshake.hpp); nothing else is read before it. Then frames follow in both directions.
#pragma once

#include "gateway/forwarder.hpp"
#include "launch/protocol/handshake.hpp"
#include "transport/tcp/frame_stream.hpp"

namespace zipmpi::gateway {

// As node numbers in handshakes.
uint32_t handshake_node(int gateway);

class LinkConnection final : public transport::tcp::StreamListener {
  public:
    // What all connections of a gateway share.
    struct LinkContext {
        Forwarder& forwarder;
        transport::tcp::FrameBufferPool& buffers;
    };
    LinkConnection(LinkContext context, os::Fd fd, std::unique_ptr<launch::HandshakeAcceptor> acceptor);
    // This side has connected, for this link.
    LinkConnection(LinkContext context, os::Fd fd, std::unique_ptr<launch::HandshakeConnector> connector,
                   int intended_link);

    [[nodiscard]] bool is_authenticated() const { return link_ >= 0; }
    [[nodiscard]] bool is_initiator() const { return connector_ != nullptr; }
    [[nodiscard]] int link() const { return link_; }                   // -1: not authenticated
    [[nodiscard]] int intended_link() const { return intended_link_; } // -1: the other side has connected
    [[nodiscard]] uint64_t since_ns() const { return since_ns_; }
    [[nodiscard]] size_t queued() const { return queued_; } // frames in the stream
    [[nodiscard]] int descriptor() const { return stream_ != nullptr ? stream_->descriptor() : fd_.get(); }
    // Reads and writes what is possible. Returns false if the connection has failed.
    bool progress();
    [[nodiscard]] bool has_pending_writes() const {
        return (stream_ != nullptr && stream_->has_pending_writes()) || !out_text_.empty();
    }
    // Once authenticated.
    void send(InTransitFrame& transit);
    // Queues a short frame until flush(). Returns whether it is the first one.
    bool batch(InTransitFrame& transit);
    void flush() { static_cast<void>(stream_->flush()); }

    bool frame_arrived(std::span<const std::byte> head, std::span<const std::byte> data,
                       transport::tcp::FrameBuffer* buffer) override;
    void frame_sent(transport::FrameTicket* ticket) override;

    bool watches_writable = true; // set by the owner that waits for the descriptor

  private:
    bool run_handshake();
    bool send_handshake();
    bool on_authenticated();
    [[nodiscard]] launch::Handshake& handshake() const;
    [[nodiscard]] PortCounters& counters() const { return context_.forwarder.stats().link(link_); }

    LinkContext context_;
    os::Fd fd_;
    int link_ = -1;
    int intended_link_ = -1;
    int peer_id_ = -1; // of the other gateway
    std::unique_ptr<launch::HandshakeAcceptor> acceptor_;
    std::unique_ptr<launch::HandshakeConnector> connector_;
    std::string out_text_; // of the handshake
    size_t queued_ = 0;
    uint64_t since_ns_;
    std::unique_ptr<transport::tcp::FrameStream> stream_; // once authenticated
};

} // namespace zipmpi::gateway
