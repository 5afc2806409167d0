// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/stream/frame_sender.hpp"

#include <utility>

namespace zipmpi::transport::stream {
namespace {

constexpr uint32_t immediate_frames = 3; // to one peer between two progress calls

} // namespace

Connection* FrameSender::connection_to(int peer) {
    const PeerLink& link = peers_.link(peer);
    if (link.connection != nullptr) [[likely]]
        return link.connection;
    return link.failed ? nullptr : setup_.dial_peer(peer);
}

bool FrameSender::may_defer(Connection& c, Timing timing) const {
    return c.burst.count(table_.poll_id()) > immediate_frames && timing == Timing::may_wait;
}

PostStatus FrameSender::post(int peer, const FrameHeader& head, const std::byte* payload,
                             const BufferRef& data, Timing timing) {
    if (peers_.link(peer).is_lost()) [[unlikely]]
        return PostStatus::in_flight; // until the failure of the peer is reported
    Connection* const c = connection_to(peer);
    if (c == nullptr) return PostStatus::failed;
    QueuedFrame out(head, payload, data);
    const bool defer = may_defer(*c, timing);
    if (!defer && write_now(*c, out)) return PostStatus::done;
    out.notify = data.operation != nullptr;
    return queue(*c, std::move(out), defer ? Timing::may_wait : Timing::now);
}

PostStatus FrameSender::post_copy(int peer, FrameHeader::Kind kind, std::span<const std::byte> first,
                                  std::span<const std::byte> second, Timing timing) {
    if (peers_.link(peer).is_lost()) [[unlikely]]
        return PostStatus::in_flight;
    Connection* const c = connection_to(peer);
    if (c == nullptr) return PostStatus::failed;
    FrameHeader head;
    head.kind = kind;
    head.bytes = first.size() + second.size();
    QueuedFrame out(head, nullptr, {});
    out.owned.reserve(head.bytes);
    out.owned.insert(out.owned.end(), first.begin(), first.end());
    out.owned.insert(out.owned.end(), second.begin(), second.end());
    out.data = {out.owned.data(), head.bytes, nullptr};
    if (timing == Timing::now && write_now(*c, out)) return PostStatus::done;
    return queue(*c, std::move(out), timing);
}

// Writes a frame after those that wait, as far as possible. Returns false if it must be queued.
bool FrameSender::write_now(Connection& c, QueuedFrame& out) {
    if (!c.is_open()) return false;
    if (c.deferred) writer_.write_out(c);
    return c.out.empty() && writer_.write_now(c, out);
}

PostStatus FrameSender::queue(Connection& c, QueuedFrame out, Timing timing) {
    const PostStatus posted = out.notify ? PostStatus::in_flight : PostStatus::done;
    c.out.push_back(std::move(out));
    if (c.is_open() && timing == Timing::may_wait)
        writer_.defer(c);
    else if (c.is_open() && !c.watches_writable)
        table_.update_watch(c);
    return posted;
}

PostStatus FrameSender::post(int peer, FrameHeader::Kind kind, uint64_t number) {
    FrameHeader head;
    head.kind = kind;
    head.number = number;
    return post(peer, head, nullptr, {});
}

// On all connections that a peer may consider open, except those whose end tells it that this process has
// ended, as with gateways.
void FrameSender::announce_end() {
    for (const auto& [number, c] : table_.all()) {
        const int peer = setup_.peer_of(*c);
        if (peer >= 0 && c->is_open_to_peer() && !peers_.detects_failure_of(peer))
            append(*c, FrameHeader::Kind::leaving);
    }
}

// As the last frame of the connection so far.
void FrameSender::append(Connection& c, FrameHeader::Kind kind) {
    FrameHeader head;
    head.kind = kind;
    c.out.emplace_back(head, nullptr, BufferRef{});
    if (c.is_open_to_peer() && c.out.size() == 1) writer_.write_out(c);
}

void FrameSender::send_bye(int peer) {
    peers_.link(peer).connection = nullptr;
    for (const auto& [number, c] : table_.all()) {
        if (setup_.peer_of(*c) != peer || c->bye_sent) continue;
        if (!c->is_open_to_peer() && c->out.empty()) { // unused: do not wait for its setup
            c->bye_received = true;
            table_.mark_broken(*c);
            continue;
        }
        c->bye_sent = true;
        append(*c, FrameHeader::Kind::bye);
        table_.request_sweep();
    }
}

void FrameSender::on_bye(Connection& c) {
    c.bye_received = true;
    peers_.link(c.peer).left = true;
    if (shutting_down_ && !c.bye_sent) send_bye(c.peer);
    table_.request_sweep();
}

} // namespace zipmpi::transport::stream
