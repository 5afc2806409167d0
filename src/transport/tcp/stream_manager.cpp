// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tcp/stream_manager.hpp"

#include "transport/tcp/stream_socket.hpp"

#include <algorithm>
#include <sys/socket.h>
#include <utility>

namespace zipmpi::transport::tcp {
namespace {

constexpr uint32_t event_poll_interval = 4; // for descriptors that were idle lately
constexpr size_t max_batched = 32U << 10;   // bytes batched

} // namespace

StreamManager::StreamManager(int own_id, const auth::HandshakeKeys& keys, const FrameConfig& config,
                             StreamPeers& peers, PollCounters& counters)
    : config_(config)
    , network_(peers)
    , counters_(counters)
    , authenticator_(own_id, keys, peers, events_, counters) {}

bool StreamManager::open(int engine_descriptor, const std::string& device) {
    if (!events_.open() || !events_.add(engine_descriptor, {EventSource::engine}, EPOLLIN)) return false;
    if (!config_.offers_streams) return true;
    os::Fd fd = listen_on(device, offer_);
    if (fd && events_.add(fd.get(), {EventSource::listener}, EPOLLIN))
        listener_ = std::move(fd);
    else
        offer_.port = 0; // frames are left to the engine
    return true;
}

PeerStream& StreamManager::peer_stream(Peer peer) {
    while (peers_.size() <= peer) {
        const auto next = static_cast<Peer>(peers_.size());
        peers_.emplace_back(next, network_.id_of(next), *config_.listener, counters_);
    }
    return peers_[peer];
}

bool StreamManager::is_ready(Peer gateway) const {
    return !config_.streams || has_stream(gateway) ||
           (gateway < peers_.size() && peers_[gateway].none_offered);
}

void StreamManager::offer(Peer peer) {
    if (!config_.offers_streams || !network_.can_receive(peer)) return;
    offer_.token = authenticator_.issue_token(peer);
    network_.send_offer(peer, std::as_bytes(std::span(&offer_, 1)));
}

void StreamManager::accept_offer(Peer from, const wire::StreamOffer& offer) {
    if (config_.offers_streams) return; // between gateways both sides would offer
    close(from);
    peer_stream(from).none_offered = offer.port == 0;
    if (offer.port != 0) authenticator_.connect(from, offer);
}

void StreamManager::begin(StreamAuthenticator::Connection connection) {
    close(connection.peer);
    const int fd = connection.fd.get();
    disable_nagle(fd);
    if (!events_.change(fd, {EventSource::stream, connection.peer}, EPOLLIN)) return;
    PeerStream& peer = peer_stream(connection.peer);
    const StreamUse use = config_.offers_streams ? StreamUse::forward_only : StreamUse::deliver; // gateways
    peer.stream = std::make_unique<FrameStream>(std::move(connection.fd), buffers_, peer, use);
    ++streams_;
}

void StreamManager::reset(Peer peer) {
    if (!is_open()) return;
    peer_stream(peer).none_offered = false;
    close(peer);
}

void StreamManager::close_all() {
    for (const PeerStream& peer : peers_) close(peer.peer());
}

void StreamManager::close(Peer peer) {
    authenticator_.revoke_token(peer);
    if (!has_stream(peer)) return;
    std::erase(writing_, peer);
    std::erase(batching_, peer);
    std::erase(broken_, peer);
    if (active_ == static_cast<int>(peer)) active_ = -1;
    --streams_;
    // Destroyed at the end of this function, when the state is consistent: its destructor calls frame_sent().
    const std::unique_ptr<FrameStream> closed = std::move(peers_[peer].stream);
}

// Frames on the stream may be lost. The offering side offers again; the other side calls peer_connected()
// again, so that frames are retransmitted, by the engine while there is no stream.
void StreamManager::on_closed(Peer peer) {
    ++counters_.events;
    close(peer);
    if (config_.offers_streams) return offer(peer);
    if (network_.has_failed(peer)) return;
    ++counters_.events;
    config_.listener->peer_connected(peer, peers_[peer].id());
}

PostStatus StreamManager::send(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data,
                               FrameTicket* ticket, FrameBuffer* buffer) {
    const PostStatus posted = peers_[peer].stream->send(head, data, ticket, buffer);
    after_sending(peer, posted);
    return posted;
}

PostStatus StreamManager::batch(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data) {
    FrameStream& stream = *peers_[peer].stream;
    if (stream.batched() == 0) batching_.push_back(peer);
    stream.batch(head, data);
    return stream.batched() < max_batched ? PostStatus::done : send(peer, {}, {}, nullptr);
}

void StreamManager::after_sending(Peer peer, PostStatus posted) {
    if (posted == PostStatus::failed)
        broken_.push_back(peer);
    else if (peers_[peer].stream->has_pending_writes() && std::ranges::count(writing_, peer) == 0)
        writing_.push_back(peer);
}

void StreamManager::flush() {
    while (!batching_.empty()) {
        const Peer peer = batching_.back();
        batching_.pop_back();
        after_sending(peer, peers_[peer].stream->flush() ? PostStatus::done : PostStatus::failed);
    }
}

void StreamManager::revoke_buffer(std::span<const std::byte> memory) {
    for (PeerStream& peer : peers_)
        if (peer.stream != nullptr) peer.stream->revoke_buffer(memory);
}

void StreamManager::write_all() {
    for (size_t i = 0; i < writing_.size();) {
        const Peer peer = writing_[i];
        FrameStream& stream = *peers_[peer].stream;
        if (!stream.write()) broken_.push_back(peer);
        if (stream.has_pending_writes())
            ++i;
        else
            std::erase(writing_, peer);
    }
    while (!broken_.empty()) {
        const Peer peer = broken_.back();
        broken_.pop_back();
        if (has_stream(peer)) on_closed(peer);
    }
}

void StreamManager::watch_writable() {
    for (const Peer peer : writing_) {
        FrameStream& stream = *peers_[peer].stream;
        if (std::exchange(stream.watches_writable, true)) continue;
        events_.change(stream.descriptor(), {EventSource::stream, peer}, EPOLLIN | EPOLLOUT);
    }
}

void StreamManager::read(Peer peer) {
    if (!has_stream(peer)) return;
    const int came = peers_[peer].stream->read();
    if (came < 0) return on_closed(peer);
    if (came > 0) active_ = static_cast<int>(peer);
}

void StreamManager::on_stream_event(Peer peer, uint32_t events) {
    if (!has_stream(peer)) return;
    FrameStream& stream = *peers_[peer].stream;
    if (stream.watches_writable && !stream.has_pending_writes()) {
        stream.watches_writable = false;
        events_.change(stream.descriptor(), {EventSource::stream, peer}, EPOLLIN);
    }
    if (static_cast<int>(peer) != active_ && (events & ~EPOLLOUT) != 0) read(peer);
}

// Returns whether the engine has events.
bool StreamManager::poll_events() {
    EventPoll::Events events;
    bool engine = false;
    const int n = events_.poll(events);
    for (int i = 0; i < n; ++i) {
        const EventSource source = EventPoll::source_of(events[i]);
        if (source.kind == EventSource::engine) {
            engine = true;
        } else if (source.kind == EventSource::listener) {
            os::Fd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
            if (fd) authenticator_.accept(std::move(fd));
        } else if (source.kind == EventSource::pending) {
            if (auto connection = authenticator_.serve(source.index)) begin(std::move(*connection));
        } else {
            on_stream_event(static_cast<Peer>(source.index), events[i].events);
        }
    }
    authenticator_.drop_expired();
    return engine;
}

// A poll is a system call: the most recently active descriptor is polled every time, the others at intervals.
// A gateway polls all because it was woken by an event.
bool StreamManager::poll() {
    if (streams_ == 0 && authenticator_.empty() && !listener_) return true;
    write_all();
    if (active_ >= 0) read(static_cast<Peer>(active_));
    bool engine = active_ < 0;
    if (counters_.poll_id % event_poll_interval == 0 || (config_.offers_streams && counters_.events == 0))
        engine = poll_events() || engine;
    return engine;
}

} // namespace zipmpi::transport::tcp
