// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ucx/frame_channel.hpp"

#include "transport/ucx/active_message.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace zipmpi::transport::ucx {
namespace {

// Frames to one peer between two progress calls that are sent immediately. Each wakes the gateway once more.
constexpr uint32_t unbatched_frames = 1;
constexpr size_t max_batched_frame = 2U << 10;
constexpr size_t max_frame_batches = 64; // UCX messages not completed

} // namespace

bool FrameChannel::listen() {
    return worker_.handle(wire::net_frame, on_frame, this) &&
           (!streams_.is_enabled() || worker_.handle(wire::net_stream_offer, on_offer, this));
}

// Whether a frame that may be batched is batched.
bool FrameChannel::should_batch(PeerState& to, size_t bytes) const {
    if (bytes > max_batched_frame) return false;
    return batching_ == FrameBatching::all || to.burst.count(counters_.poll_id) > unbatched_frames;
}

// Short frames in a row share a UCX message; frames carry their length.
bool FrameChannel::batch(PeerState& to, std::span<const std::byte> head, std::span<const std::byte> data) {
    const size_t bytes = head.size() + data.size();
    if (requests_.batches() >= max_frame_batches || !should_batch(to, bytes)) return false;
    SendRequest*& open = to.batches.frames;
    if (open != nullptr && open->used + bytes > SendRequests::batch_bytes) send_batch(to);
    if (open == nullptr) {
        open = &requests_.acquire_batch();
        std::memcpy(open->staging.packed.data(), &to.tokens.sending, sizeof to.tokens.sending);
        open->used = sizeof to.tokens.sending;
        waiting_.push_back(to.index);
    }
    std::byte* const at = open->staging.packed.data() + open->used;
    std::memcpy(at, head.data(), head.size());
    if (!data.empty()) std::memcpy(at + head.size(), data.data(), data.size());
    open->used += bytes;
    return true;
}

void FrameChannel::send_batch(PeerState& to) {
    SendRequest& s = *std::exchange(to.batches.frames, nullptr);
    const ucs_status_t status = requests_.send(s, to.failed ? nullptr : to.endpoint, wire::net_frame,
                                               std::span(s.staging.packed).first(s.used));
    if (status != UCS_OK) peers_.mark_failed(to, ucs_status_string(status));
}

void FrameChannel::flush_batches() {
    streams_.flush();
    while (!waiting_.empty()) {
        PeerState& to = peers_[waiting_.back()];
        waiting_.pop_back();
        if (to.batches.frames != nullptr) send_batch(to);
    }
}

void FrameChannel::reset(PeerState& peer) {
    if (peer.batches.frames != nullptr) requests_.release(*std::exchange(peer.batches.frames, nullptr));
}

PostStatus FrameChannel::send(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data,
                              FrameTicket* ticket, Batching batching) {
    PeerState& to = peers_[peer];
    if (to.failed || to.endpoint == nullptr || head.size() > wire::frame_head_max + wire::frame_small)
        return PostStatus::failed;
    if (to.tokens.sending == 0) return PostStatus::would_block;
    if (streams_.has_stream(peer)) {
        const PostStatus posted = send_by_stream(to, head, data, ticket, batching);
        if (posted != PostStatus::failed) return posted;
    }
    if (batching == Batching::allowed && batch(to, head, data)) return PostStatus::done;
    if (to.batches.frames != nullptr) send_batch(to); // in order: a probe refers to frames sent before it
    return to.failed ? PostStatus::failed : send_by_ucx(to, head, data, ticket);
}

PostStatus FrameChannel::send_by_stream(PeerState& to, std::span<const std::byte> head,
                                        std::span<const std::byte> data, FrameTicket* ticket,
                                        Batching batching) {
    if (batching == Batching::allowed && should_batch(to, head.size() + data.size()))
        return streams_.batch(to.index, head, data);
    return streams_.send(to.index, head, data, ticket);
}

PostStatus FrameChannel::send_by_ucx(PeerState& to, std::span<const std::byte> head,
                                     std::span<const std::byte> data, FrameTicket* ticket) {
    SendRequest& s = requests_.acquire();
    const uint64_t token = to.tokens.sending;
    std::memcpy(s.header, &token, sizeof token);
    std::memcpy(s.header + sizeof token, head.data(), head.size());
    size_t bytes = sizeof token + head.size();
    const ucp_request_param_t param = SendRequests::params(s, UCP_AM_SEND_FLAG_EAGER);
    void* request = nullptr;
    const bool whole = bytes + data.size() <= sizeof s.header;
    if (whole) { // UCX sends data faster than a header
        if (!data.empty()) std::memcpy(s.header + bytes, data.data(), data.size());
        bytes += data.size();
        request = ucp_am_send_nbx(to.endpoint, wire::net_frame, nullptr, 0, s.header, bytes, &param);
    } else {
        s.ticket = ticket;
        request =
            ucp_am_send_nbx(to.endpoint, wire::net_frame, s.header, bytes, data.data(), data.size(), &param);
    }
    if (UCS_PTR_IS_PTR(request)) return whole ? PostStatus::done : PostStatus::in_flight;
    requests_.release(s);
    if (request == nullptr) return PostStatus::done;
    peers_.mark_failed(to, ucs_status_string(UCS_PTR_STATUS(request)));
    return PostStatus::failed;
}

PostStatus FrameChannel::send_spliced(Peer peer, std::span<const std::byte> head,
                                      std::span<const std::byte> data, FrameTicket* ticket,
                                      tcp::FrameBuffer& buffer) {
    if (!peers_[peer].can_receive() || !streams_.has_stream(peer))
        return buffer.read_spliced(data.size()) ? send(peer, head, data, ticket, Batching::forbidden)
                                                : PostStatus::failed;
    // Do not fall back to UCX after a failure: part of the data was sent.
    return streams_.send(peer, head, data, ticket, &buffer);
}

void FrameChannel::release(void* descriptor) {
    if (tcp::FrameBuffer* const buffer = tcp::frame_buffer_of(descriptor); buffer != nullptr)
        streams_.release(*buffer);
    else
        ucp_am_data_release(worker_.get(), descriptor);
}

ucs_status_t FrameChannel::on_frame(void* self, const void* header, size_t header_length, void* data,
                                    size_t length, const ucp_am_recv_param_t* param) {
    auto& channel = *static_cast<FrameChannel*>(self);
    if (!count_eager(channel.counters_, param)) return UCS_OK;
    const bool may_keep = (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA) != 0;
    if (header_length == 0) return channel.deliver_batch(bytes_at(data, length));
    return channel.deliver(bytes_at(header, header_length), bytes_at(data, length),
                           may_keep ? data : nullptr);
}

ucs_status_t FrameChannel::on_offer(void* self, const void*, size_t, void* data, size_t length,
                                    const ucp_am_recv_param_t* param) {
    auto& channel = *static_cast<FrameChannel*>(self);
    if (!count_eager(channel.counters_, param)) return UCS_OK;
    std::span<const std::byte> bytes = bytes_at(data, length);
    const PeerState* const from = channel.take_token(bytes);
    wire::StreamOffer offer{};
    if (from == nullptr || bytes.size() != sizeof offer) return UCS_OK;
    std::memcpy(&offer, bytes.data(), sizeof offer);
    channel.streams_.accept_offer(from->index, offer);
    return UCS_OK;
}

// Checks and removes the token. Null, and counted as rejected: it is not valid.
PeerState* FrameChannel::take_token(std::span<const std::byte>& bytes) {
    uint64_t token = 0;
    if (listener_ == nullptr || bytes.size() <= sizeof token) {
        ++counters_.rejected_messages;
        return nullptr;
    }
    std::memcpy(&token, bytes.data(), sizeof token);
    PeerState* const from = peers_.authenticate(token);
    if (from != nullptr) bytes = bytes.subspan(sizeof token);
    return from;
}

ucs_status_t FrameChannel::deliver(std::span<const std::byte> head, std::span<const std::byte> data,
                                   void* descriptor) {
    const PeerState* const from = take_token(head);
    if (from == nullptr) return UCS_OK;
    const FrameArrival arrival{from->index, from->world_rank, head, data, descriptor};
    return listener_->frame_arrived(arrival) && descriptor != nullptr ? UCS_INPROGRESS : UCS_OK;
}

// Splits a message into frames. Bytes that are not a frame are passed on whole and rejected by the receiver.
ucs_status_t FrameChannel::deliver_batch(std::span<const std::byte> bytes) {
    const PeerState* const from = take_token(bytes);
    if (from == nullptr) return UCS_OK;
    while (!bytes.empty()) {
        wire::Frame frame{};
        if (bytes.size() >= sizeof frame) std::memcpy(&frame, bytes.data(), sizeof frame);
        const size_t whole = std::min(bytes.size(), sizeof frame + frame.bytes);
        listener_->frame_arrived({from->index, from->world_rank, bytes.first(whole), {}, nullptr});
        bytes = bytes.subspan(whole);
    }
    return UCS_OK;
}

} // namespace zipmpi::transport::ucx
