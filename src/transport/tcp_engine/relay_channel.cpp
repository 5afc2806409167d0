// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tcp_engine/relay_channel.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::transport::tcp_engine {

using stream::FrameHeader;
using stream::Timing;

namespace {

// Frames to one peer between two progress calls that are sent immediately. Each wakes the gateway once more.
constexpr uint32_t unbatched_frames = 1;
constexpr size_t max_batched_frame = 2U << 10;

} // namespace

RelayChannel::RelayChannel(const NetworkConfig& settings, const FrameConfig& frames, JobPeers& peers,
                           stream::MessageStreams& messages, PollCounters& counters)
    : network_listener_(*settings.listener)
    , listener_(frames.listener)
    , batches_all_(settings.batch_all_frames)
    , peers_(peers)
    , messages_(messages)
    , counters_(counters)
    , streams_(settings.world_rank, settings.keys, frames, *this, counters) {}

bool RelayChannel::open(const std::string& device) {
    return !streams_.is_enabled() || streams_.open(messages_.descriptor(), device);
}

bool RelayChannel::can_receive(Peer peer) const {
    const stream::Connection* const c = link(peer).connection;
    return c != nullptr && c->is_open() && !c->is_broken();
}

bool RelayChannel::should_batch(Peer peer, size_t bytes, Batching batching) {
    if (batching == Batching::forbidden || bytes > max_batched_frame) return false;
    if (bursts_.size() <= peer) bursts_.resize(size_t{peer} + 1);
    return batches_all_ || bursts_[peer].count(counters_.poll_id) > unbatched_frames;
}

PostStatus RelayChannel::send(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data,
                              FrameTicket* ticket, Batching batching) {
    if (link(peer).failed || link(peer).connection == nullptr) return PostStatus::failed;
    if (!can_receive(peer)) return PostStatus::would_block;
    const bool batch = should_batch(peer, head.size() + data.size(), batching);
    if (streams_.has_stream(peer)) {
        const PostStatus posted =
            batch ? streams_.batch(peer, head, data) : streams_.send(peer, head, data, ticket);
        if (posted != PostStatus::failed) return posted;
    }
    return messages_.sender().post_copy(peers_.number_of(peer), FrameHeader::Kind::relayed, head, data,
                                        batch ? Timing::may_wait : Timing::now);
}

PostStatus RelayChannel::send_spliced(Peer peer, std::span<const std::byte> head,
                                      std::span<const std::byte> data, FrameTicket* ticket,
                                      tcp::FrameBuffer& buffer) {
    if (!can_receive(peer) || !streams_.has_stream(peer))
        return buffer.read_spliced(data.size()) ? send(peer, head, data, ticket, Batching::forbidden)
                                                : PostStatus::failed;
    // Do not fall back to the connection after a failure: part of the data was sent.
    return streams_.send(peer, head, data, ticket, &buffer);
}

// Bytes that are not a frame are passed on whole and rejected by the receiver.
void RelayChannel::relayed_arrived(int peer, std::span<const std::byte> frame) {
    static_cast<void>(
        listener_->frame_arrived({peers_.peer_of(peer), peers_.id_of(peer), frame, {}, nullptr}));
}

void RelayChannel::offer_arrived(int peer, std::span<const std::byte> bytes) {
    wire::StreamOffer offer{};
    if (!streams_.is_open() || bytes.size() != sizeof offer) return;
    std::memcpy(&offer, bytes.data(), sizeof offer);
    streams_.accept_offer(peers_.peer_of(peer), offer);
}

void RelayChannel::send_offer(Peer peer, std::span<const std::byte> offer) {
    static_cast<void>(messages_.sender().post_copy(peers_.number_of(peer), FrameHeader::Kind::offer, offer,
                                                   {}, Timing::now));
}

// Operations in flight are lost.
void RelayChannel::peer_reset(Peer peer) {
    const bool failed = link(peer).failed; // it was reported
    messages_.remove_peer(peers_.number_of(peer));
    if (!failed) network_listener_.peer_failed(peer, "the peer has reset the connection");
}

void RelayChannel::peer_connected(Peer peer, int id) {
    ++counters_.events;
    streams_.offer(peer);
    if (listener_ != nullptr) listener_->peer_connected(peer, id);
}

} // namespace zipmpi::transport::tcp_engine
