// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/flow_receiver.hpp"

#include "bridge/flow_table.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::bridge {
namespace {

constexpr wire::Grant all_here{0, 0, 0, 1};

std::vector<std::byte> copy_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

// The receive of a chunk if it is posted in contiguous memory and misses the chunk.
ChunkedReceive* posted_for(const Flow& flow, const wire::Frame& f, size_t bytes) {
    if (f.type != wire::FrameType::chunk || f.offset % wire::frame_chunk != 0) return nullptr;
    const auto found = flow.in.chunked_receives.find(f.sequence);
    if (found == flow.in.chunked_receives.end()) return nullptr;
    ChunkedReceive& m = *found->second;
    const uint64_t chunk = f.offset / wire::frame_chunk;
    if (!m.posted || m.to.at == nullptr || f.length != m.length || bytes > wire::frame_chunk ||
        !m.chunks.accepts(chunk) || m.chunks.contains(chunk) || bytes > m.length - f.offset)
        return nullptr;
    return &m;
}

} // namespace

void FlowReceiver::on_message(Flow& f, const FrameView& v) {
    const uint64_t sequence = v.frame.sequence;
    if (f.in.has_seen(sequence)) {
        ++counters_.duplicates;
        if (v.head.chunked != 0) send_receive_state(f, sequence);
        return schedule_ack(f, limits_.ack_bytes); // the sender missed the ack
    }
    FlowReceiveState& in = f.in;
    if (sequence - in.deliver_next > wire::flow_window) {
        ++counters_.rejected;
        return;
    }
    if (sequence == in.deliver_next) {
        deliver(f, v.frame, v.head, v.payload, v.data);
        in.reordered.erase(sequence);
        if (!in.reordered.empty()) deliver_reordered(f);
    } else {
        ReorderedFrame& early = in.reordered[sequence];
        early.has_first = true;
        early.frame = v.frame;
        early.head = v.head;
        early.payload = copy_of(v.payload);
        early.data = copy_of(v.data);
    }
    schedule_ack(f, v.data.size());
}

void FlowReceiver::deliver(Flow& f, const wire::Frame& frame, const wire::MessageHead& head,
                           std::span<const std::byte> payload, std::span<const std::byte> data) {
    const wire::Envelope envelope{
        head.kind,         static_cast<uint8_t>(head.flags & wire::flags_between_hosts),
        head.inline_bytes, 0,
        frame.context,     head.source,
        frame.tag,         head.sync_id};
    const transport::Arrival arrival{f.peer, envelope, payload.data(),
                                     head.chunked != 0 || data.empty() ? nullptr : data.data(), data.size()};
    ++f.in.deliver_next;
    ++counters_.messages_in;
    if (head.chunked == 0)
        listener_.message_arrived(arrival);
    else
        deliver_chunked(f, frame, arrival, data);
}

ChunkedReceive& FlowReceiver::make_receive(Flow& f, const wire::Frame& frame) {
    auto owned = std::make_unique<ChunkedReceive>();
    ChunkedReceive& m = *owned;
    m.flow = &f;
    m.sequence = frame.sequence;
    m.length = frame.length;
    m.chunks.set_total(chunks_of(frame.length));
    receives_.emplace(&m, std::move(owned));
    f.in.chunked_receives.emplace(m.sequence, &m);
    return m;
}

void FlowReceiver::deliver_chunked(Flow& f, const wire::Frame& frame, const transport::Arrival& arrival,
                                   std::span<const std::byte> data) {
    ChunkedReceive& m = make_receive(f, frame);
    const auto kept = f.in.reordered.find(frame.sequence);
    std::map<uint64_t, std::vector<std::byte>> chunks;
    if (kept != f.in.reordered.end()) chunks = std::move(kept->second.chunks);
    f.in.reordered.erase(frame.sequence);
    m.first = data;
    const uint64_t sequence = m.sequence;
    const auto there = [&] { return f.in.chunked_receives.contains(sequence); };
    listener_.rts_arrived(arrival, m, m.length);
    if (!there()) return; // already fetched or dropped
    m.first = {};
    if (!m.chunks.contains(0)) store(m, 0, data);
    for (const auto& [offset, bytes] : chunks)
        if (there()) store(m, offset, bytes);
}

void FlowReceiver::deliver_reordered(Flow& f) {
    auto& reordered = f.in.reordered;
    for (auto next = reordered.find(f.in.deliver_next); next != reordered.end() && next->second.has_first;
         next = reordered.find(f.in.deliver_next)) {
        auto node = reordered.extract(next);
        ReorderedFrame& e = node.mapped();
        const wire::Frame frame = e.frame;
        if (!e.chunks.empty())
            reordered[frame.sequence].chunks = std::move(e.chunks); // picked up by deliver_chunked()
        deliver(f, frame, e.head, e.payload, e.data);
        reordered.erase(frame.sequence);
    }
}

void FlowReceiver::on_chunk(Flow& f, const FrameView& v) {
    const uint64_t sequence = v.frame.sequence;
    const auto found = f.in.chunked_receives.find(sequence);
    if (found != f.in.chunked_receives.end()) {
        ChunkedReceive& m = *found->second;
        if (v.frame.length != m.length ||
            (!m.posted && v.frame.offset + v.data.size() > limits_.eager_bytes)) {
            ++counters_.rejected;
            return;
        }
        return store(m, v.frame.offset, v.data);
    }
    if (sequence < f.in.deliver_next) { // complete; the sender missed it
        ++counters_.duplicates;
        return send_receive_state(f, sequence);
    }
    if (sequence - f.in.deliver_next > wire::flow_window ||
        v.frame.offset + v.data.size() > limits_.eager_bytes) {
        ++counters_.rejected;
        return;
    }
    f.in.reordered[sequence].chunks.try_emplace(v.frame.offset, copy_of(v.data));
}

std::byte* FlowReceiver::destination_of(const Flow& flow, const wire::Frame& chunk, size_t bytes) const {
    const ChunkedReceive* const m = posted_for(flow, chunk, bytes);
    return m != nullptr ? m->to.at + chunk.offset : nullptr;
}

std::byte* FlowReceiver::expose_destination(const Flow& flow, const wire::Frame& chunk, size_t bytes) {
    ChunkedReceive* const m = posted_for(flow, chunk, bytes);
    if (m == nullptr) return nullptr;
    m->buffer_exposed = true;
    return m->to.at + chunk.offset;
}

// Stores data of a long message after a range check.
void FlowReceiver::store(ChunkedReceive& m, uint64_t offset, std::span<const std::byte> data) {
    const uint64_t chunk = offset / wire::frame_chunk;
    if (!m.chunks.accepts(chunk) || offset + data.size() > m.length) return;
    m.last_heard_ns = io_.now_ns();
    last_chunk_ns_ = m.last_heard_ns;
    if (m.chunks.contains(chunk)) {
        ++counters_.duplicates;
        m.grant_due_bytes = limits_.ack_bytes;
    } else {
        place_chunk(m, offset, data);
        m.chunks.insert(chunk);
    }
    m.grant_due_bytes += data.size();
    if (m.posted && m.chunks.complete()) return finish_if_complete(m);
    if (m.grant_due_bytes >= limits_.ack_bytes && send_grant(m)) return;
    if (m.grant_due_ns == 0) m.grant_due_ns = m.last_heard_ns + limits_.ack_ns;
    set_due(m.grant_due_ns);
}

void FlowReceiver::place_chunk(ChunkedReceive& m, uint64_t offset, std::span<const std::byte> data) {
    if (data.empty()) return;
    if (!m.posted) {
        if (m.early_data.size() < offset + data.size()) m.early_data.resize(offset + data.size());
        std::memcpy(m.early_data.data() + offset, data.data(), data.size());
    } else if (m.to.at != nullptr) {
        if (m.to.at + offset == data.data()) return; // already in place
        std::memcpy(m.to.at + offset, data.data(), data.size());
    } else {
        listener_.unpack(m.to.operation, offset, data.data(), data.size());
    }
}

void FlowReceiver::fetch(ChunkedReceive& m, const BufferRef& to) {
    const std::vector<std::byte> early = std::move(m.early_data);
    m.to = to;
    m.posted = true;
    for (uint64_t chunk = 0; chunk * wire::frame_chunk < early.size(); ++chunk) {
        if (!m.chunks.contains(chunk)) continue;
        const uint64_t offset = chunk * wire::frame_chunk;
        place_chunk(
            m, offset,
            std::span(early).subspan(offset, std::min<uint64_t>(wire::frame_chunk, early.size() - offset)));
    }
    if (m.flow->failed && !m.chunks.complete()) { // the rest will not arrive
        close_receive(m);
        return listener_.fetch_finished(to.operation, OpStatus::failed);
    }
    const bool more = m.chunks.total() > 1;
    if (more && !m.chunks.complete())
        static_cast<void>(send_grant(m)); // first: the sender continues meanwhile
    if (!m.chunks.contains(0) && (!m.first.empty() || m.length == 0)) return store(m, 0, m.first);
    finish_if_complete(m);
}

void FlowReceiver::drop(ChunkedReceive& m) {
    Flow& f = *m.flow;
    const uint64_t sequence = m.sequence;
    close_receive(m);
    static_cast<void>(send_grant(f, sequence, all_here));
}

void FlowReceiver::fail(Flow& f) {
    const auto receives = f.in.chunked_receives;
    for (const auto& [sequence, r] : receives) {
        if (!r->posted) continue;
        NetworkOperation* const operation = r->to.operation;
        close_receive(*r);
        listener_.fetch_finished(operation, OpStatus::failed);
    }
}

ChunkedReceive* FlowReceiver::find(const transport::IncomingBulk& bytes) const {
    const auto found = receives_.find(&bytes);
    return found != receives_.end() ? found->second.get() : nullptr;
}

void FlowReceiver::finish_if_complete(ChunkedReceive& m) {
    if (!m.posted || !m.chunks.complete()) return;
    Flow& f = *m.flow;
    const uint64_t sequence = m.sequence;
    NetworkOperation* const operation = m.to.operation;
    close_receive(m);
    static_cast<void>(send_grant(f, sequence, all_here));
    listener_.fetch_finished(operation, OpStatus::done);
}

void FlowReceiver::close_receive(ChunkedReceive& m) {
    if (m.buffer_exposed) io_.revoke_buffer({m.to.at, m.length});
    m.flow->in.chunked_receives.erase(m.sequence);
    receives_.erase(&m);
}

void FlowReceiver::schedule_ack(Flow& f, uint64_t bytes) {
    DueAck& due = f.due_ack;
    due.bytes += bytes;
    ++due.messages;
    if ((due.bytes >= limits_.ack_bytes || due.messages >= limits_.ack_messages) && send_ack(f)) return;
    if (due.ns == 0) due.ns = io_.now_ns() + limits_.ack_ns;
    set_due(due.ns);
}

bool FlowReceiver::send_ack(Flow& f) {
    const wire::AckBitmap ack = f.in.ack_bitmap();
    if (!transmitter_.send_control(f, wire::FrameType::ack, 0, std::as_bytes(std::span(&ack, 1))))
        return false;
    f.due_ack = {};
    return true;
}

void FlowReceiver::send_receive_state(Flow& f, uint64_t sequence) {
    const auto found = f.in.chunked_receives.find(sequence);
    if (found != f.in.chunked_receives.end())
        static_cast<void>(send_grant(*found->second));
    else if (sequence < f.in.deliver_next)
        static_cast<void>(send_grant(f, sequence, all_here));
}

void FlowReceiver::send_state(Flow& f) {
    if (f.in.deliver_next != 0 || !f.in.reordered.empty()) schedule_ack(f, limits_.ack_bytes);
    for (const auto& [sequence, m] : f.in.chunked_receives)
        if (m->posted && !send_grant(*m)) m->grant_due_ns = io_.now_ns();
}

void FlowReceiver::send_due(const FlowTable& flows, uint64_t acks_until, uint64_t grants_until) {
    next_due_ns_ = never;
    const uint64_t now = io_.now_ns();
    const auto retry = [&](const Flow& f) { // without a path, a rank should sleep
        return now + (transmitter_.has_path(f) ? limits_.ack_ns : limits_.heartbeat_ns);
    };
    for (const auto& f : flows) {
        if (f->due_ack.ns == 0 || f->failed) continue;
        if (f->due_ack.ns > acks_until)
            set_due(f->due_ack.ns);
        else if (!send_ack(*f))
            set_due(retry(*f));
    }
    for (const auto& [key, m] : receives_) {
        if (m->grant_due_ns == 0) continue;
        if (m->posted && m->grant_due_ns > grants_until)
            set_due(m->grant_due_ns);
        else if (!send_grant(*m))
            set_due(retry(*m->flow));
    }
}

void FlowReceiver::repeat_grants(Flow& f, uint64_t now, uint64_t silent_ns) {
    for (const auto& [sequence, m] : f.in.chunked_receives)
        if (m->posted && elapsed(now, m->last_heard_ns) >= silent_ns && send_grant(*m))
            m->last_heard_ns = now;
}

bool FlowReceiver::send_grant(Flow& f, uint64_t sequence, const wire::Grant& grant) {
    return transmitter_.send_control(f, wire::FrameType::grant, sequence,
                                     std::as_bytes(std::span(&grant, 1)));
}

bool FlowReceiver::send_grant(ChunkedReceive& m) {
    if (!send_grant(*m.flow, m.sequence, m.grant())) return false;
    m.grant_due_bytes = m.grant_due_ns = 0;
    return true;
}

} // namespace zipmpi::bridge
