// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/frame_channel.hpp"

#include <cstring>

namespace zipmpi::transport::ofi {
namespace {

constexpr size_t max_batched_frame = 2U << 10;

} // namespace

PostStatus FrameChannel::send(PeerState& to, std::span<const std::byte> head, std::span<const std::byte> data,
                              FrameTicket* ticket, Batching batching) {
    if (to.readiness() != PostStatus::done) return to.readiness();
    if (head.size() + data.size() > wire::ofi_message_max - sizeof(wire::OfiHead) - sizeof(wire::OfiRecord))
        return PostStatus::failed;
    // Each frame that is sent at once wakes the gateway once more.
    const uint32_t sent_at_once = batching_ == FrameBatching::all ? 0 : 1;
    const bool may_batch = batching == Batching::allowed && head.size() + data.size() <= max_batched_frame;
    if (streams_.has_stream(to.index)) {
        const PostStatus posted = may_batch && to.burst.count(counters_.poll_id) > sent_at_once
                                      ? streams_.batch(to.index, head, data)
                                      : streams_.send(to.index, head, data, ticket);
        if (posted != PostStatus::failed) return posted;
    }
    const OutgoingRecord record{wire::OfiRecordKind::frame,
                                {},
                                head,
                                {const_cast<std::byte*>(data.data()), data.size(), nullptr},
                                data.empty() ? nullptr : ticket};
    if (may_batch && records_.batch(to, record, sent_at_once)) return PostStatus::done;
    return to.readiness() == PostStatus::done ? records_.send(to, record) : to.readiness();
}

PostStatus FrameChannel::send_spliced(PeerState& to, std::span<const std::byte> head,
                                      std::span<const std::byte> data, FrameTicket* ticket,
                                      tcp::FrameBuffer& buffer) {
    if (!can_receive(to.index) || !streams_.has_stream(to.index))
        return buffer.read_spliced(data.size()) ? send(to, head, data, ticket, Batching::forbidden)
                                                : PostStatus::failed;
    // Do not fall back to records after a failure: part of the data was sent.
    return streams_.send(to.index, head, data, ticket, &buffer);
}

bool FrameChannel::record_arrived(const PeerState& from, const Record& record) {
    if (listener_ == nullptr) return false;
    if (record.head.kind == wire::OfiRecordKind::frame) {
        static_cast<void>(listener_->frame_arrived({from.index, from.world_rank, record.data, {}, nullptr}));
        return true;
    }
    wire::StreamOffer offer{};
    if (!streams_.is_open() || record.data.size() != sizeof offer) return false;
    std::memcpy(&offer, record.data.data(), sizeof offer);
    streams_.accept_offer(from.index, offer);
    return true;
}

void FrameChannel::peer_connected(const PeerState& peer) {
    ++counters_.events;
    streams_.offer(peer.index);
    if (listener_ != nullptr) listener_->peer_connected(peer.index, peer.world_rank);
}

int FrameChannel::find(int id) const {
    const PeerState* const peer = peers_.find(id);
    return peer != nullptr ? static_cast<int>(peer->index) : -1;
}

void FrameChannel::send_offer(Peer peer, std::span<const std::byte> offer) {
    static_cast<void>(records_.send(peers_[peer], {wire::OfiRecordKind::offer, {}, offer}));
}

} // namespace zipmpi::transport::ofi
