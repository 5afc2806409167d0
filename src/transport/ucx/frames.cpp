// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Frames of the bridge, between ranks and gateways. They describe themselves and need no order; here they
// only get the pass of the receiver in front.
#include "transport/ucx/engine.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace zipmpi::transport::ucx {
namespace {

constexpr uint64_t index_mask = (uint64_t{1} << pass_index_bits) - 1;
// To one peer between two looks at the network: the first need not wait. Each more wakes the gateway once
// more.
constexpr uint32_t frames_at_once = 1;
constexpr size_t longest_gathered = 2U << 10;
constexpr size_t most_gathered = 64; // messages of UCX that are not finished

} // namespace

// Whether a frame that may wait for others does.
bool Engine::waits(Known& to, size_t bytes) {
    if (bytes > longest_gathered || gathers_) return bytes <= longest_gathered;
    if (to.look != look_) to.since_look = 0;
    to.look = look_;
    return ++to.since_look > frames_at_once;
}

// Short frames that follow each other share a message of UCX: they say themselves where they end.
bool Engine::gather(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data) {
    Known& to = peers_[peer];
    const size_t bytes = head.size() + data.size();
    if (batches_ >= most_gathered || !waits(to, bytes)) return false;
    if (to.frames != nullptr && to.frames->used + bytes > batch_bytes) send_frames(to);
    if (to.frames == nullptr) {
        to.frames = &new_batch();
        std::memcpy(to.frames->gaps.packed.data(), &to.pass, sizeof to.pass);
        to.frames->used = sizeof to.pass;
        waiting_frames_.push_back(peer);
    }
    std::byte* const at = to.frames->gaps.packed.data() + to.frames->used;
    std::memcpy(at, head.data(), head.size());
    if (!data.empty()) std::memcpy(at + head.size(), data.data(), data.size());
    to.frames->used += bytes;
    return true;
}

void Engine::send_frames(Known& to) {
    Sending& s = *std::exchange(to.frames, nullptr);
    const ucp_request_param_t param = asking_for(s, UCP_AM_SEND_FLAG_EAGER);
    void* const request =
        to.lost || to.endpoint == nullptr
            ? UCS_STATUS_PTR(UCS_ERR_CONNECTION_RESET)
            : ucp_am_send_nbx(to.endpoint, wire::net_frame, nullptr, 0, s.gaps.packed.data(), s.used, &param);
    if (!UCS_PTR_IS_PTR(request)) give_back(s);
    if (UCS_PTR_IS_ERR(request)) lose(to, ucs_status_string(UCS_PTR_STATUS(request)));
}

void Engine::send_waiting() {
    flush_streams();
    while (!waiting_frames_.empty()) {
        Known& to = peers_[waiting_frames_.back()];
        waiting_frames_.pop_back();
        if (to.frames != nullptr) send_frames(to);
    }
}

Posted Engine::send_frame(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data,
                          void* ticket, bool may_wait) {
    Known& to = peers_[peer];
    if (to.lost || to.endpoint == nullptr || head.size() > wire::frame_head_max + wire::frame_small)
        return Posted::failed;
    if (to.pass == 0) return Posted::would_block;
    if (to.stream != nullptr) {
        const Posted posted = send_by_stream(peer, head, data, ticket, may_wait);
        if (posted != Posted::failed) return posted;
    }
    if (may_wait && gather(peer, head, data)) return Posted::done;
    if (to.frames != nullptr) send_frames(to); // in order: a question asks about what was said before it
    if (to.lost) return Posted::failed;
    Sending& s = take_sending();
    std::memcpy(s.header, &to.pass, sizeof to.pass);
    std::memcpy(s.header + sizeof to.pass, head.data(), head.size());
    size_t bytes = sizeof to.pass + head.size();
    ucp_request_param_t param = asking_for(s, UCP_AM_SEND_FLAG_EAGER);
    void* request = nullptr;
    const bool whole = bytes + data.size() <= sizeof s.header;
    if (whole) { // UCX is quicker with data than with a header
        if (!data.empty()) std::memcpy(s.header + bytes, data.data(), data.size());
        bytes += data.size();
        request = ucp_am_send_nbx(to.endpoint, wire::net_frame, nullptr, 0, s.header, bytes, &param);
    } else {
        s.ticket = ticket;
        request =
            ucp_am_send_nbx(to.endpoint, wire::net_frame, s.header, bytes, data.data(), data.size(), &param);
    }
    if (UCS_PTR_IS_PTR(request)) return whole ? Posted::done : Posted::under_way;
    give_back(s);
    if (request == nullptr) return Posted::done;
    lose(to, ucs_status_string(UCS_PTR_STATUS(request)));
    return Posted::failed;
}

ucs_status_t Engine::on_frame(void* self, const void* header, size_t header_length, void* data, size_t length,
                              const ucp_am_recv_param_t* param) {
    Engine* const engine = with_data(self, param);
    if (engine == nullptr) return UCS_OK;
    const std::span head(static_cast<const std::byte*>(header), header_length);
    const std::span rest(static_cast<const std::byte*>(data), length);
    const bool may_keep = (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA) != 0;
    if (head.empty()) return engine->take_frames(rest);
    return engine->take_frame(head, rest, may_keep ? data : nullptr);
}

// Takes the pass off.
bool Engine::is_from(std::span<const std::byte>& bytes, Peer& from) {
    uint64_t pass = 0;
    if (bytes.size() > sizeof pass) std::memcpy(&pass, bytes.data(), sizeof pass);
    from = static_cast<Peer>(pass & index_mask);
    if (from >= peers_.size() || peers_[from].given_pass != pass || sink_.frame == nullptr) {
        ++strangers_;
        return false;
    }
    bytes = bytes.subspan(sizeof pass);
    return true;
}

ucs_status_t Engine::take_frame(std::span<const std::byte> head, std::span<const std::byte> data,
                                void* descriptor) {
    Peer from = 0;
    if (!is_from(head, from)) return UCS_OK;
    const FrameArrival arrival{from, peers_[from].world_rank, head, data, descriptor};
    return sink_.frame(sink_.subject, arrival) && descriptor != nullptr ? UCS_INPROGRESS : UCS_OK;
}

// One or several. What is no frame goes up in one piece and is refused there.
ucs_status_t Engine::take_frames(std::span<const std::byte> bytes) {
    Peer from = 0;
    if (!is_from(bytes, from)) return UCS_OK;
    const int id = peers_[from].world_rank;
    while (!bytes.empty()) {
        wire::Frame frame{};
        if (bytes.size() >= sizeof frame) std::memcpy(&frame, bytes.data(), sizeof frame);
        const size_t whole = std::min(bytes.size(), sizeof frame + frame.bytes);
        sink_.frame(sink_.subject, {from, id, bytes.first(whole), {}, nullptr});
        bytes = bytes.subspan(whole);
    }
    return UCS_OK;
}

} // namespace zipmpi::transport::ucx
