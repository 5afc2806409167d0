// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gateway/link_connection.hpp"

#include "os/clock.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/socket.h>
#include <utility>

namespace zipmpi::gateway {

uint32_t handshake_node(int gateway) {
    constexpr uint32_t gateway_bit = 0x80000000; // no daemon has a node number this high
    return gateway_bit | static_cast<uint32_t>(gateway);
}

LinkConnection::LinkConnection(LinkContext context, os::Fd fd,
                               std::unique_ptr<launch::HandshakeAcceptor> acceptor)
    : context_(context)
    , fd_(std::move(fd))
    , acceptor_(std::move(acceptor))
    , out_text_(acceptor_->take_output())
    , since_ns_(os::now_ns()) {}

LinkConnection::LinkConnection(LinkContext context, os::Fd fd,
                               std::unique_ptr<launch::HandshakeConnector> connector, int intended_link)
    : context_(context)
    , fd_(std::move(fd))
    , intended_link_(intended_link)
    , connector_(std::move(connector))
    , since_ns_(os::now_ns()) {}

launch::Handshake& LinkConnection::handshake() const {
    return is_initiator() ? static_cast<launch::Handshake&>(*connector_) : *acceptor_;
}

bool LinkConnection::progress() {
    if (!is_authenticated() && !run_handshake()) return false;
    if (!is_authenticated()) return true;
    // While the buffer limit is exhausted, data stays in the kernel and TCP slows the sender down.
    return stream_->write() && (context_.forwarder.is_full() || stream_->read() >= 0);
}

// What the socket does not accept stays in out_text_. Returns false if the connection has failed.
bool LinkConnection::send_handshake() {
    if (out_text_.empty()) return true;
    const ssize_t n = ::send(fd_.get(), out_text_.data(), out_text_.size(), MSG_NOSIGNAL);
    if (n < 0) return errno == EAGAIN || errno == ENOTCONN || errno == EINPROGRESS;
    out_text_.erase(0, static_cast<size_t>(n));
    return true;
}

bool LinkConnection::run_handshake() {
    for (;;) {
        if (!send_handshake()) return false;
        if (!out_text_.empty()) return true;
        if (handshake().state() == launch::HandshakeState::authenticated) return on_authenticated();
        char bytes[128];
        const ssize_t n = recv(fd_.get(), bytes, std::min(sizeof bytes, handshake().bytes_needed()), 0);
        if (n < 0) return errno == EAGAIN || errno == EINTR || errno == ENOTCONN;
        if (n == 0) return false;
        const std::string_view came(bytes, static_cast<size_t>(n));
        const launch::HandshakeState state = is_initiator() ? connector_->feed(came) : acceptor_->feed(came);
        if (state == launch::HandshakeState::rejected) return false;
        out_text_ += handshake().take_output();
    }
}

bool LinkConnection::on_authenticated() {
    const GatewayConfig& config = context_.forwarder.config();
    const auto& links = config.links();
    link_ = intended_link_;
    for (size_t i = 0; i < links.size() && !is_initiator(); ++i)
        if (acceptor_->node() == handshake_node(links[i].to_gateway)) link_ = static_cast<int>(i);
    if (link_ < 0) return false;
    peer_id_ = config.id_of(links[static_cast<size_t>(link_)].to_gateway);
    stream_ = std::make_unique<transport::tcp::FrameStream>(std::move(fd_), context_.buffers, *this,
                                                            transport::tcp::StreamUse::forward_only);
    return true;
}

bool LinkConnection::batch(InTransitFrame& t) {
    const bool first = stream_->batched() == 0;
    stream_->batch(t.head, t.data);
    context_.forwarder.on_frame_sent(t);
    return first;
}

void LinkConnection::send(InTransitFrame& t) {
    if (stream_->send(t.head, t.data, &t, t.spliced) == PostStatus::in_flight) {
        ++queued_;
        add(counters().queued);
    } else {
        context_.forwarder.on_frame_sent(t); // an error shows in the next event
    }
}

bool LinkConnection::frame_arrived(std::span<const std::byte> head, std::span<const std::byte> data,
                                   transport::tcp::FrameBuffer* buffer) {
    return context_.forwarder.on_frame(
        {-1, peer_id_, head, data, nullptr, buffer, transport::tcp::spliced_buffer(buffer)});
}

void LinkConnection::frame_sent(transport::FrameTicket* ticket) {
    --queued_;
    subtract(counters().queued);
    context_.forwarder.on_frame_sent(*static_cast<InTransitFrame*>(ticket));
}

} // namespace zipmpi::gateway
