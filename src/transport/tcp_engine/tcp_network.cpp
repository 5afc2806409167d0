// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tcp_engine/tcp_network.hpp"

#include "transport/stream/sockets.hpp"

#include <cerrno>
#include <cstring>

namespace zipmpi::transport::tcp_engine {
namespace {

// While frames arrive by streams, the other connections are polled at intervals.
constexpr uint32_t message_poll_interval = 16;

} // namespace

TcpNetwork::TcpNetwork(const NetworkConfig& settings, const FrameConfig& frames,
                       const stream::Sealing& sealing)
    : relays_(settings, frames, peers_, messages_, counters_)
    , peers_(settings, relays_)
    , messages_({{0, settings.world_rank, 0},
                 *settings.listener,
                 frames.listener != nullptr ? &relays_ : nullptr,
                 sealing},
                peers_) {}

// Frames that are dropped are reported to their sender while everything still exists.
TcpNetwork::~TcpNetwork() { relays_.streams().close_all(); }

bool TcpNetwork::start(const char* devices, std::string& why) {
    stream::ContactInfo contact;
    if (messages_.listen(stream::listen_on_network(devices, contact)) && relays_.open(devices)) {
        address_ = address_text(contact);
        return true;
    }
    why = std::string("no socket can listen on a TCP interface of \"") + devices +
          "\": " + std::strerror(errno);
    return false;
}

int TcpNetwork::connect_to(int world_rank) {
    const int peer = peers_.number_for(world_rank);
    const stream::PeerLink& link = peers_.link(peer);
    if (link.failed || link.has_ended()) return -1;
    if (link.connection != nullptr || link.is_lost()) return static_cast<int>(peers_.peer_of(peer));
    if (!peers_.resolve(peer) || messages_.sender().connection_to(peer) == nullptr) return -1;
    return static_cast<int>(peers_.peer_of(peer));
}

void TcpNetwork::fail_peer(int world_rank) {
    const int peer = peers_.number_for(world_rank);
    peers_.abandon(peer);
    messages_.fail_peer(peer);
}

PostStatus TcpNetwork::readiness(int peer) const {
    const stream::PeerLink& link = peers_.link(peer);
    if (peers_.is_abandoned(peer)) return PostStatus::failed;
    if (link.connection != nullptr && link.connection->is_open()) [[likely]]
        return link.connection->is_broken() ? PostStatus::would_block : PostStatus::done;
    return link.failed || link.has_ended() ? PostStatus::failed : PostStatus::would_block;
}

PostStatus TcpNetwork::post(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                            const BufferRef& data, stream::Timing timing) {
    const int number = peers_.number_of(peer);
    const PostStatus ready = readiness(number);
    return ready == PostStatus::done ? messages_.send(number, envelope, payload, data, timing) : ready;
}

PostStatus TcpNetwork::send_rendezvous(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                                       const BufferRef& data) {
    const int number = peers_.number_of(peer);
    const PostStatus ready = readiness(number);
    return ready == PostStatus::done ? messages_.send_rendezvous(number, envelope, payload, data) : ready;
}

int TcpNetwork::progress() {
    tcp::StreamManager& streams = relays_.streams();
    counters_.events = 0;
    ++counters_.poll_id;
    if (streams.is_open()) {
        flush_batches();
        if (!streams.poll() && counters_.poll_id % message_poll_interval != 0) return counters_.events;
    }
    const int messages = messages_.progress();
    if (messages != 0) streams.set_engine_active();
    return counters_.events + messages;
}

bool TcpNetwork::arm() {
    relays_.streams().watch_writable();
    relays_.streams().set_engine_active(); // the next progress() polls everything
    return messages_.arm();
}

bool TcpNetwork::has_pending_handshakes() const {
    for (int peer = 0; peer < peers_.count(); ++peer) {
        const stream::Connection* const c = peers_.link(peer).connection;
        if (c != nullptr && !c->is_open()) return true;
    }
    return false;
}

void TcpNetwork::flush_batches() {
    relays_.streams().flush();
    messages_.flush();
}

void TcpNetwork::release_frame(void* descriptor) {
    if (tcp::FrameBuffer* const buffer = tcp::frame_buffer_of(descriptor); buffer != nullptr)
        relays_.streams().release(*buffer);
}

void TcpNetwork::reset_peer(Peer peer) {
    const int number = peers_.number_of(peer);
    relays_.streams().reset(peer);
    messages_.remove_peer(number);
    peers_.reset(number);
}

} // namespace zipmpi::transport::tcp_engine
