// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Frames between ranks and gateways. They are self-describing and unordered; the token of the receiver is
// prepended.
#include "transport/ucx/ucx_network.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace zipmpi::transport::ucx {
namespace {

constexpr uint64_t index_mask = (uint64_t{1} << token_index_bits) - 1;
// Frames to one peer between two progress calls that are sent immediately. Each wakes the gateway once more.
constexpr uint32_t unbatched_frames = 1;
constexpr size_t max_batched_frame = 2U << 10;
constexpr size_t max_frame_batches = 64; // UCX messages not completed

} // namespace

// Whether a frame that may be batched is batched.
bool UcxNetwork::should_batch_frame(PeerState& to, size_t bytes) {
    if (bytes > max_batched_frame || batch_all_frames_) return bytes <= max_batched_frame;
    if (to.poll_id != poll_id_) to.sent_since_poll = 0;
    to.poll_id = poll_id_;
    return ++to.sent_since_poll > unbatched_frames;
}

// Short frames in a row share a UCX message; frames carry their length.
bool UcxNetwork::batch_frame(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data) {
    PeerState& to = peers_[peer];
    const size_t bytes = head.size() + data.size();
    if (batches_ >= max_frame_batches || !should_batch_frame(to, bytes)) return false;
    if (to.frame_batch != nullptr && to.frame_batch->used + bytes > batch_bytes) send_frame_batch(to);
    if (to.frame_batch == nullptr) {
        to.frame_batch = &new_batch();
        std::memcpy(to.frame_batch->staging.packed.data(), &to.token, sizeof to.token);
        to.frame_batch->used = sizeof to.token;
        waiting_frames_.push_back(peer);
    }
    std::byte* const at = to.frame_batch->staging.packed.data() + to.frame_batch->used;
    std::memcpy(at, head.data(), head.size());
    if (!data.empty()) std::memcpy(at + head.size(), data.data(), data.size());
    to.frame_batch->used += bytes;
    return true;
}

void UcxNetwork::send_frame_batch(PeerState& to) {
    SendRequest& s = *std::exchange(to.frame_batch, nullptr);
    const ucp_request_param_t param = request_params(s, UCP_AM_SEND_FLAG_EAGER);
    void* const request = to.failed || to.endpoint == nullptr
                              ? UCS_STATUS_PTR(UCS_ERR_CONNECTION_RESET)
                              : ucp_am_send_nbx(to.endpoint, wire::net_frame, nullptr, 0,
                                                s.staging.packed.data(), s.used, &param);
    if (!UCS_PTR_IS_PTR(request)) release_request(s);
    if (UCS_PTR_IS_ERR(request)) mark_failed(to, ucs_status_string(UCS_PTR_STATUS(request)));
}

void UcxNetwork::flush_batches() {
    flush_streams();
    while (!waiting_frames_.empty()) {
        PeerState& to = peers_[waiting_frames_.back()];
        waiting_frames_.pop_back();
        if (to.frame_batch != nullptr) send_frame_batch(to);
    }
}

PostStatus UcxNetwork::send_frame(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data,
                                  void* ticket, bool may_wait) {
    PeerState& to = peers_[peer];
    if (to.failed || to.endpoint == nullptr || head.size() > wire::frame_head_max + wire::frame_small)
        return PostStatus::failed;
    if (to.token == 0) return PostStatus::would_block;
    if (to.stream != nullptr) {
        const PostStatus posted = send_by_stream(peer, head, data, ticket, may_wait);
        if (posted != PostStatus::failed) return posted;
    }
    if (may_wait && batch_frame(peer, head, data)) return PostStatus::done;
    if (to.frame_batch != nullptr) send_frame_batch(to); // in order: a probe refers to frames sent before it
    if (to.failed) return PostStatus::failed;
    SendRequest& s = acquire_request();
    std::memcpy(s.header, &to.token, sizeof to.token);
    std::memcpy(s.header + sizeof to.token, head.data(), head.size());
    size_t bytes = sizeof to.token + head.size();
    ucp_request_param_t param = request_params(s, UCP_AM_SEND_FLAG_EAGER);
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
    release_request(s);
    if (request == nullptr) return PostStatus::done;
    mark_failed(to, ucs_status_string(UCS_PTR_STATUS(request)));
    return PostStatus::failed;
}

ucs_status_t UcxNetwork::on_frame(void* self, const void* header, size_t header_length, void* data,
                                  size_t length, const ucp_am_recv_param_t* param) {
    UcxNetwork* const network = callback_owner(self, param);
    if (network == nullptr) return UCS_OK;
    const std::span head(static_cast<const std::byte*>(header), header_length);
    const std::span rest(static_cast<const std::byte*>(data), length);
    const bool may_keep = (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA) != 0;
    if (head.empty()) return network->deliver_frames(rest);
    return network->deliver_frame(head, rest, may_keep ? data : nullptr);
}

// Checks and removes the token.
bool UcxNetwork::check_token(std::span<const std::byte>& bytes, Peer& from) {
    uint64_t token = 0;
    if (bytes.size() > sizeof token) std::memcpy(&token, bytes.data(), sizeof token);
    from = static_cast<Peer>(token & index_mask);
    if (from >= peers_.size() || peers_[from].issued_token != token || callbacks_.frame_arrived == nullptr) {
        ++rejected_messages_;
        return false;
    }
    bytes = bytes.subspan(sizeof token);
    return true;
}

ucs_status_t UcxNetwork::deliver_frame(std::span<const std::byte> head, std::span<const std::byte> data,
                                       void* descriptor) {
    Peer from = 0;
    if (!check_token(head, from)) return UCS_OK;
    const FrameArrival arrival{from, peers_[from].world_rank, head, data, descriptor};
    return callbacks_.frame_arrived(callbacks_.subject, arrival) && descriptor != nullptr ? UCS_INPROGRESS
                                                                                          : UCS_OK;
}

// Splits a message into frames. Bytes that are not a frame are passed on whole and rejected by the receiver.
ucs_status_t UcxNetwork::deliver_frames(std::span<const std::byte> bytes) {
    Peer from = 0;
    if (!check_token(bytes, from)) return UCS_OK;
    const int id = peers_[from].world_rank;
    while (!bytes.empty()) {
        wire::Frame frame{};
        if (bytes.size() >= sizeof frame) std::memcpy(&frame, bytes.data(), sizeof frame);
        const size_t whole = std::min(bytes.size(), sizeof frame + frame.bytes);
        callbacks_.frame_arrived(callbacks_.subject, {from, id, bytes.first(whole), {}, nullptr});
        bytes = bytes.subspan(whole);
    }
    return UCS_OK;
}

} // namespace zipmpi::transport::ucx
