// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Receive side of an endpoint. Messages are delivered in order; those that overtake others are kept. The
// sender respects the window and the grants: frames beyond them are dropped.
#include "bridge/flow_state.hpp"

#include <algorithm>

namespace zipmpi::bridge {
namespace {

constexpr wire::Grant all_here{0, 0, 0, 1};

bool was_accepted(PostStatus posted) { return posted == PostStatus::done || posted == PostStatus::in_flight; }

std::vector<std::byte> copy_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

} // namespace

bool Endpoint::has_seen(const Flow& f, uint64_t sequence) const {
    if (sequence < f.deliver_next) return true;
    const auto early = f.reordered.find(sequence);
    return early != f.reordered.end() && early->second.has_first;
}

void Endpoint::on_message(Flow& f, const FrameView& v) {
    const uint64_t sequence = v.frame.sequence;
    if (has_seen(f, sequence)) {
        ++counters_.duplicates;
        if (v.head.chunked != 0) send_receive_state(f, sequence);
        return schedule_ack(f, limits_.ack_bytes); // the sender missed the ack
    }
    if (sequence - f.deliver_next > wire::flow_window) {
        ++counters_.rejected;
        return;
    }
    if (sequence == f.deliver_next) {
        deliver(f, v.frame, v.head, v.payload, v.data);
        f.reordered.erase(sequence);
        if (!f.reordered.empty()) deliver_reordered(f);
    } else {
        ReorderedFrame& early = f.reordered[sequence];
        early.has_first = true;
        early.frame = v.frame;
        early.head = v.head;
        early.payload = copy_of(v.payload);
        early.data = copy_of(v.data);
    }
    schedule_ack(f, v.data.size());
}

void Endpoint::deliver(Flow& f, const wire::Frame& frame, const wire::MessageHead& head,
                       std::span<const std::byte> payload, std::span<const std::byte> data) {
    const wire::Envelope envelope{
        head.kind,         static_cast<uint8_t>(head.flags & wire::flag_synchronous),
        head.inline_bytes, 0,
        frame.context,     head.source,
        frame.tag,         head.sync_id};
    const transport::Arrival arrival{f.index, envelope, payload.data(),
                                     head.chunked != 0 || data.empty() ? nullptr : data.data(), data.size()};
    ++f.deliver_next;
    ++counters_.messages_in;
    if (head.chunked == 0) return callbacks_.arrived(callbacks_.subject, arrival);
    auto owned = std::make_unique<ChunkedReceive>();
    ChunkedReceive& m = *owned;
    m.flow = &f;
    m.sequence = frame.sequence;
    m.length = frame.length;
    m.missing = chunks_of(frame.length);
    m.have.resize(m.missing);
    receives_.emplace(&m, std::move(owned));
    f.chunked_receives.emplace(m.sequence, &m);
    const auto kept = f.reordered.find(frame.sequence);
    std::map<uint64_t, std::vector<std::byte>> chunks;
    if (kept != f.reordered.end()) chunks = std::move(kept->second.chunks);
    f.reordered.erase(frame.sequence);
    m.first = data;
    const uint64_t sequence = m.sequence;
    const auto there = [&] { return f.chunked_receives.contains(sequence); };
    callbacks_.rts_arrived(callbacks_.subject, arrival, m, m.length);
    if (!there()) return; // already fetched or dropped
    m.first = {};
    if (!m.have[0]) store(m, 0, data);
    for (const auto& [offset, bytes] : chunks)
        if (there()) store(m, offset, bytes);
}

void Endpoint::deliver_reordered(Flow& f) {
    for (auto next = f.reordered.find(f.deliver_next); next != f.reordered.end() && next->second.has_first;
         next = f.reordered.find(f.deliver_next)) {
        auto node = f.reordered.extract(next);
        ReorderedFrame& e = node.mapped();
        const wire::Frame frame = e.frame;
        if (!e.chunks.empty())
            f.reordered[frame.sequence].chunks = std::move(e.chunks); // picked up by deliver()
        deliver(f, frame, e.head, e.payload, e.data);
        f.reordered.erase(frame.sequence);
    }
}

void Endpoint::on_chunk(Flow& f, const FrameView& v) {
    const uint64_t sequence = v.frame.sequence;
    const auto found = f.chunked_receives.find(sequence);
    if (found != f.chunked_receives.end()) {
        ChunkedReceive& m = *found->second;
        if (v.frame.length != m.length ||
            (!m.posted && v.frame.offset + v.data.size() > limits_.eager_bytes)) {
            ++counters_.rejected;
            return;
        }
        return store(m, v.frame.offset, v.data);
    }
    if (sequence < f.deliver_next) { // complete; the sender missed it
        ++counters_.duplicates;
        return send_receive_state(f, sequence);
    }
    if (sequence - f.deliver_next > wire::flow_window ||
        v.frame.offset + v.data.size() > limits_.eager_bytes) {
        ++counters_.rejected;
        return;
    }
    f.reordered[sequence].chunks.try_emplace(v.frame.offset, copy_of(v.data));
}

// Finds the receive for a chunk and the destination in the user's memory; null if there is none or it is not
// contiguous.
ChunkedReceive* Endpoint::posted_receive_for(const wire::Frame& f, size_t bytes, std::byte*& at) {
    if (f.type != wire::FrameType::chunk || f.to != own_id_ || f.offset % wire::frame_chunk != 0)
        return nullptr;
    const auto it = by_rank_.find(f.from);
    if (it == by_rank_.end()) return nullptr;
    const Flow& flow = *flows_[it->second];
    const auto found = flow.chunked_receives.find(f.sequence);
    if (found == flow.chunked_receives.end()) return nullptr;
    ChunkedReceive& m = *found->second;
    const uint64_t chunk = f.offset / wire::frame_chunk;
    if (!m.posted || m.dropped || m.to.at == nullptr || f.length != m.length || bytes > wire::frame_chunk ||
        chunk >= m.have.size() || m.have[chunk] || bytes > m.length - f.offset)
        return nullptr;
    at = m.to.at + f.offset;
    return &m;
}

std::byte* Endpoint::receive_buffer_for(std::span<const std::byte> head, size_t bytes) {
    wire::Frame f{};
    std::byte* at = nullptr;
    if (io_.aead != nullptr || io_.revoke_buffer == nullptr ||
        !read_frame(head, job_, head.size() - sizeof f + bytes, f))
        return nullptr;
    ChunkedReceive* const m = posted_receive_for(f, bytes, at);
    if (m != nullptr) m->buffer_exposed = true;
    return at;
}

// Stores data of a long message after a range check.
void Endpoint::store(ChunkedReceive& m, uint64_t offset, std::span<const std::byte> data) {
    const uint64_t chunk = offset / wire::frame_chunk;
    if (chunk >= m.have.size() || offset + data.size() > m.length) return;
    m.last_heard_ns = io_.now_ns();
    bulk_ns_ = m.last_heard_ns;
    if (m.have[chunk]) {
        ++counters_.duplicates;
        m.grant_due_bytes = limits_.ack_bytes;
    } else {
        place_chunk(m, offset, data);
        m.have[chunk] = true;
        --m.missing;
        while (m.next < m.have.size() && m.have[m.next]) ++m.next;
    }
    m.grant_due_bytes += data.size();
    if (m.posted && m.missing == 0) return finish_if_complete(m);
    if (m.grant_due_bytes >= limits_.ack_bytes && send_grant(m)) return;
    if (m.grant_due_ns == 0) m.grant_due_ns = m.last_heard_ns + limits_.ack_ns;
    acks_due_ns_ = std::min(acks_due_ns_, m.grant_due_ns);
}

void Endpoint::place_chunk(ChunkedReceive& m, uint64_t offset, std::span<const std::byte> data) {
    if (m.dropped || data.empty()) return;
    if (!m.posted) {
        if (m.early_data.size() < offset + data.size()) m.early_data.resize(offset + data.size());
        std::memcpy(m.early_data.data() + offset, data.data(), data.size());
    } else if (m.to.at != nullptr) {
        if (m.to.at + offset == data.data()) return; // already in place
        std::memcpy(m.to.at + offset, data.data(), data.size());
    } else {
        callbacks_.unpack(m.to.operation, offset, data.data(), data.size());
    }
}

void Endpoint::fetch(ChunkedReceive& m, const BufferRef& to) {
    const std::vector<std::byte> early = std::move(m.early_data);
    m.to = to;
    m.posted = true;
    for (uint64_t chunk = 0; chunk < m.have.size() && chunk * wire::frame_chunk < early.size(); ++chunk) {
        if (!m.have[chunk]) continue;
        const uint64_t offset = chunk * wire::frame_chunk;
        place_chunk(
            m, offset,
            std::span(early).subspan(offset, std::min<uint64_t>(wire::frame_chunk, early.size() - offset)));
    }
    if (m.flow->failed && m.missing != 0) { // the rest will not arrive
        close_receive(m);
        return callbacks_.fetched(callbacks_.subject, to.operation, OpStatus::failed);
    }
    const bool more = m.have.size() > 1;
    if (more && m.missing != 0) static_cast<void>(send_grant(m)); // first: the sender continues meanwhile
    if (!m.have[0] && (!m.first.empty() || m.length == 0)) return store(m, 0, m.first);
    finish_if_complete(m);
}

void Endpoint::drop(ChunkedReceive& m) {
    Flow& f = *m.flow;
    const uint64_t sequence = m.sequence;
    close_receive(m);
    static_cast<void>(send_grant(f, sequence, all_here));
}

void Endpoint::finish_if_complete(ChunkedReceive& m) {
    if (!m.posted || m.missing != 0) return;
    Flow& f = *m.flow;
    const uint64_t sequence = m.sequence;
    void* const operation = m.to.operation;
    close_receive(m);
    static_cast<void>(send_grant(f, sequence, all_here));
    callbacks_.fetched(callbacks_.subject, operation, OpStatus::done);
}

void Endpoint::close_receive(ChunkedReceive& m) {
    if (m.buffer_exposed) io_.revoke_buffer(io_.subject, {m.to.at, m.length});
    m.flow->chunked_receives.erase(m.sequence);
    receives_.erase(&m);
}

void Endpoint::schedule_ack(Flow& f, uint64_t bytes) {
    f.ack_due_bytes += bytes;
    ++f.ack_due_messages;
    if ((f.ack_due_bytes >= limits_.ack_bytes || f.ack_due_messages >= limits_.ack_messages) && send_ack(f))
        return;
    if (f.ack_due_ns == 0) f.ack_due_ns = io_.now_ns() + limits_.ack_ns;
    acks_due_ns_ = std::min(acks_due_ns_, f.ack_due_ns);
}

bool Endpoint::send_ack(Flow& f) {
    wire::AckBitmap ack{f.deliver_next, {}};
    for (const auto& [sequence, early] : f.reordered) {
        if (!early.has_first || sequence <= f.deliver_next) continue;
        const uint64_t bit = sequence - f.deliver_next - 1;
        if (bit < wire::flow_window) ack.seen[bit / 64] |= uint64_t{1} << bit % 64;
    }
    wire::Frame frame{};
    frame.type = wire::FrameType::ack;
    const int path = control_path(f);
    if (path < 0 || !was_accepted(send_frame(f, path, frame, std::as_bytes(std::span(&ack, 1)), {}, nullptr)))
        return false;
    f.ack_due_ns = f.ack_due_bytes = 0;
    f.ack_due_messages = 0;
    return true;
}

// Sends the state of a long message whose first frame has arrived.
void Endpoint::send_receive_state(Flow& f, uint64_t sequence) {
    const auto found = f.chunked_receives.find(sequence);
    if (found != f.chunked_receives.end())
        static_cast<void>(send_grant(*found->second));
    else if (sequence < f.deliver_next)
        static_cast<void>(send_grant(f, sequence, all_here));
}

bool Endpoint::send_grant(Flow& f, uint64_t sequence, const wire::Grant& grant) {
    wire::Frame frame{};
    frame.type = wire::FrameType::grant;
    frame.sequence = sequence;
    const int path = control_path(f);
    return path >= 0 &&
           was_accepted(send_frame(f, path, frame, std::as_bytes(std::span(&grant, 1)), {}, nullptr));
}

bool Endpoint::send_grant(ChunkedReceive& m) {
    if (!send_grant(*m.flow, m.sequence, m.grant())) return false;
    m.grant_due_bytes = m.grant_due_ns = 0;
    return true;
}

} // namespace zipmpi::bridge
