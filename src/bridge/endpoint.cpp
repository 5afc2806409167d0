// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/endpoint.hpp"

#include <algorithm>

namespace zipmpi::bridge {
namespace {

bool is_of_gateway(const FrameView& v) { return v.frame.type >= wire::FrameType::credit; }

// Checked before decryption, which keeps state per sender.
bool is_from_known_sender(const EndpointIo& io, const FrameView& v) {
    return is_of_gateway(v) || io.is_relayed(v.frame.from);
}

} // namespace

Endpoint::Endpoint(const EndpointConfig& config, transport::NetworkListener& listener, EndpointIo& io)
    : limits_(config.limits)
    , io_(io)
    , codec_(config.own_id, config.job)
    , paths_({config.own_id, config.job}, config.paths, limits_, io, counters_)
    , flows_(io, config.numbering)
    , transmitter_(codec_, paths_, io, counters_)
    , sender_(limits_, io, listener, paths_, transmitter_, counters_)
    , receiver_(limits_, io, listener, transmitter_, counters_)
    , recovery_(limits_, io, listener, paths_, flows_, sender_, receiver_) {}

void Endpoint::fail_peer(int world_rank) {
    Flow& f = flows_.with(world_rank);
    if (!f.failed) recovery_.fail(f);
}

bool Endpoint::fetch(const transport::IncomingBulk& message, const BufferRef& to) {
    ChunkedReceive* const m = receiver_.find(message);
    if (m != nullptr) receiver_.fetch(*m, to);
    return m != nullptr;
}

bool Endpoint::drop(const transport::IncomingBulk& message) {
    ChunkedReceive* const m = receiver_.find(message);
    if (m != nullptr) receiver_.drop(*m);
    return m != nullptr;
}

void Endpoint::on_frame(int path, std::span<const std::byte> head, std::span<const std::byte> data) {
    FrameView v;
    const bool whole = codec_.parse(head, data, v) && is_from_known_sender(io_, v);
    if (whole && codec_.must_be_sealed(v))
        on_sealed_frame(path, v, head, data);
    else if (whole && !v.sealed && (is_of_gateway(v) || FrameCodec::is_intact(v, head, data)))
        dispatch(path, v);
    else
        ++counters_.rejected;
}

// Chunks are decrypted directly to a posted receive.
void Endpoint::on_sealed_frame(int path, const FrameView& v, std::span<const std::byte> head,
                               std::span<const std::byte> data) {
    const Flow* const flow = FrameCodec::seals_data_only(v, head) ? flows_.find(v.frame.from) : nullptr;
    std::byte* const data_to =
        flow != nullptr ? receiver_.destination_of(*flow, v.frame, data.size()) : nullptr;
    std::vector<std::byte> opened = codec_.acquire_buffer();
    FrameView inside;
    if (codec_.open(v, head, data, data_to, opened, inside))
        dispatch(path, inside);
    else
        ++counters_.rejected;
    codec_.release_buffer(std::move(opened));
}

void Endpoint::dispatch(int path, const FrameView& v) {
    ++counters_.frames_in;
    paths_.on_heard(path);
    if (!paths_.is_up(path)) path_up(path);
    if (v.frame.type >= wire::FrameType::credit) return on_gateway_frame(path, v);
    Flow& f = flows_.with(v.frame.from);
    if (f.failed) return;
    f.route.last_heard_path = path;
    if (v.has_ack) sender_.on_ack(f, v.ack.next, {&v.ack.seen, 1});
    wire::AckBitmap ack{};
    wire::Grant grant{};
    if (v.frame.type == wire::FrameType::message)
        receiver_.on_message(f, v);
    else if (v.frame.type == wire::FrameType::chunk)
        receiver_.on_chunk(f, v);
    else if (read_ack(v, ack))
        sender_.on_ack(f, ack.next, ack.seen);
    else if (read_grant(v, grant))
        sender_.on_grant(f, v.frame.sequence, grant);
    else if (v.frame.type == wire::FrameType::grant && v.data.empty())
        receiver_.send_receive_state(f, v.frame.sequence);
    sender_.drain();
}

void Endpoint::on_gateway_frame(int path, const FrameView& v) {
    if (v.frame.type == wire::FrameType::credit) paths_.on_credit(path, v.frame.length);
    if (v.frame.type == wire::FrameType::heartbeat) paths_.on_heartbeat(path, v.frame.sequence);
    sender_.drain();
}

std::byte* Endpoint::receive_buffer_for(std::span<const std::byte> head, size_t bytes) {
    wire::Frame frame{};
    if (codec_.encrypts() || !codec_.parse_header(head, bytes, frame)) return nullptr;
    const Flow* const flow = flows_.find(frame.from);
    return flow != nullptr ? receiver_.expose_destination(*flow, frame, bytes) : nullptr;
}

void Endpoint::on_frame_sent(FrameTicket* ticket) {
    sender_.on_frame_sent(*static_cast<UnackedFrame*>(ticket));
}

int Endpoint::advance() {
    const uint64_t now = io_.now_ns();
    int happened = sender_.has_queued() ? sender_.drain() : 0;
    advanced_ns_ = now;
    if (now >= receiver_.next_due_ns()) {
        receiver_.send_due(flows_, now, now);
        ++happened;
    }
    happened += recovery_.check_shutdown(now);
    constexpr uint64_t checks_per_heartbeat = 8;
    if (now - checked_ns_ < limits_.heartbeat_ns / checks_per_heartbeat) return happened;
    checked_ns_ = now;
    if (!has_pending()) return happened;
    return happened + recovery_.check(now);
}

void Endpoint::flush_before_sleep() {
    receiver_.send_due(flows_, FlowReceiver::never, io_.now_ns());
    static_cast<void>(recovery_.check_shutdown(io_.now_ns())); // the acknowledgements just sent are the last
}

bool Endpoint::has_pending() const {
    return sender_.has_pending() || receiver_.has_open_receives() || !paths_.all_gateways_replied();
}

uint64_t Endpoint::next_deadline_ns() const {
    return std::min(receiver_.next_due_ns(),
                    has_pending() ? checked_ns_ + limits_.heartbeat_ns / 4 : FlowReceiver::never);
}

bool Endpoint::idle() const {
    if (receiver_.next_due_ns() != FlowReceiver::never) return false;
    return recovery_.is_shutting_down() ? sender_.idle_for_exit() && paths_.all_confirmed() : sender_.idle();
}

uint64_t Endpoint::retained_bytes() const {
    uint64_t bytes = 0;
    for (const auto& f : flows_) {
        bytes += f->out.retained;
        for (const auto& [sequence, early] : f->in.reordered) bytes += early.data.size();
    }
    return bytes;
}

} // namespace zipmpi::bridge
