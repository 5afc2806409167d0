// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The receiving half of an end. A message is given up when all before it were; what came before its turn is
// kept. The sender keeps within the window and within what is granted: what does not is dropped.
#include "bridge/end_parts.hpp"

#include <algorithm>

namespace zipmpi::bridge {
namespace {

constexpr wire::Grant all_here{0, 0, 0, 1};

bool went(Posted posted) { return posted == Posted::done || posted == Posted::under_way; }

std::vector<std::byte> copy_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

} // namespace

bool End::has_seen(const Flow& f, uint64_t sequence) const {
    if (sequence < f.deliver_next) return true;
    const auto early = f.early.find(sequence);
    return early != f.early.end() && early->second.has_first;
}

void End::take_message(Flow& f, const FrameView& v) {
    const uint64_t sequence = v.frame.sequence;
    if (has_seen(f, sequence)) {
        ++counters_.duplicates;
        if (v.head.is_long != 0) answer_question(f, sequence);
        return owe_ack(f, limits_.ack_bytes); // the sender does not know
    }
    if (sequence - f.deliver_next > wire::flow_window) {
        ++counters_.refused;
        return;
    }
    if (sequence == f.deliver_next) {
        deliver(f, v.frame, v.head, v.payload, v.data);
        f.early.erase(sequence);
        if (!f.early.empty()) deliver_kept(f);
    } else {
        Early& early = f.early[sequence];
        early.has_first = true;
        early.frame = v.frame;
        early.head = v.head;
        early.payload = copy_of(v.payload);
        early.data = copy_of(v.data);
    }
    owe_ack(f, v.data.size());
}

void End::deliver(Flow& f, const wire::Frame& frame, const wire::MessageHead& head,
                  std::span<const std::byte> payload, std::span<const std::byte> data) {
    const wire::Envelope envelope{
        head.kind,         static_cast<uint8_t>(head.flags & wire::flag_synchronous),
        head.inline_bytes, 0,
        frame.context,     head.source,
        frame.tag,         head.sync_id};
    const transport::Arrival arrival{f.index, envelope, payload.data(),
                                     head.is_long != 0 || data.empty() ? nullptr : data.data(), data.size()};
    ++f.deliver_next;
    ++counters_.messages_in;
    if (head.is_long == 0) return sink_.arrived(sink_.subject, arrival);
    auto owned = std::make_unique<LongReceive>();
    LongReceive& m = *owned;
    m.flow = &f;
    m.sequence = frame.sequence;
    m.length = frame.length;
    m.missing = chunks_of(frame.length);
    m.have.resize(m.missing);
    receives_.emplace(&m, std::move(owned));
    f.long_receives.emplace(m.sequence, &m);
    const auto kept = f.early.find(frame.sequence);
    std::map<uint64_t, std::vector<std::byte>> chunks;
    if (kept != f.early.end()) chunks = std::move(kept->second.chunks);
    f.early.erase(frame.sequence);
    m.first = data;
    const uint64_t sequence = m.sequence;
    const auto there = [&] { return f.long_receives.contains(sequence); };
    sink_.announced(sink_.subject, arrival, reinterpret_cast<transport::ucx::Arriving&>(m), m.length);
    if (!there()) return; // received or dropped already
    m.first = {};
    if (!m.have[0]) store(m, 0, data);
    for (const auto& [offset, bytes] : chunks)
        if (there()) store(m, offset, bytes);
}

void End::deliver_kept(Flow& f) {
    for (auto next = f.early.find(f.deliver_next); next != f.early.end() && next->second.has_first;
         next = f.early.find(f.deliver_next)) {
        auto node = f.early.extract(next);
        Early& e = node.mapped();
        const wire::Frame frame = e.frame;
        if (!e.chunks.empty()) f.early[frame.sequence].chunks = std::move(e.chunks); // deliver() finds them
        deliver(f, frame, e.head, e.payload, e.data);
        f.early.erase(frame.sequence);
    }
}

void End::take_chunk(Flow& f, const FrameView& v) {
    const uint64_t sequence = v.frame.sequence;
    const auto found = f.long_receives.find(sequence);
    if (found != f.long_receives.end()) {
        LongReceive& m = *found->second;
        if (v.frame.length != m.length || (!m.posted && v.frame.offset + v.data.size() > limits_.head)) {
            ++counters_.refused;
            return;
        }
        return store(m, v.frame.offset, v.data);
    }
    if (sequence < f.deliver_next) { // it is complete, and the sender does not know
        ++counters_.duplicates;
        return answer_question(f, sequence);
    }
    if (sequence - f.deliver_next > wire::flow_window || v.frame.offset + v.data.size() > limits_.head) {
        ++counters_.refused;
        return;
    }
    f.early[sequence].chunks.try_emplace(v.frame.offset, copy_of(v.data));
}

// The message that waits for this chunk and the place of the chunk in the memory of its user; null: there is
// none, or it is elsewhere.
LongReceive* End::wanted_at(const wire::Frame& f, size_t bytes, std::byte*& at) {
    if (f.type != wire::FrameType::chunk || f.to != own_id_ || f.offset % wire::frame_chunk != 0)
        return nullptr;
    const auto known = by_rank_.find(f.from);
    if (known == by_rank_.end()) return nullptr;
    const Flow& flow = *flows_[known->second];
    const auto found = flow.long_receives.find(f.sequence);
    if (found == flow.long_receives.end()) return nullptr;
    LongReceive& m = *found->second;
    const uint64_t chunk = f.offset / wire::frame_chunk;
    if (!m.posted || m.dropped || m.to.at == nullptr || f.length != m.length || bytes > wire::frame_chunk ||
        chunk >= m.have.size() || m.have[chunk] || bytes > m.length - f.offset)
        return nullptr;
    at = m.to.at + f.offset;
    return &m;
}

std::byte* End::place(std::span<const std::byte> head, size_t bytes) {
    wire::Frame f{};
    std::byte* at = nullptr;
    if (world_.sealer != nullptr || world_.withdraw == nullptr ||
        !read_frame(head, job_, head.size() - sizeof f + bytes, f))
        return nullptr;
    LongReceive* const m = wanted_at(f, bytes, at);
    if (m != nullptr) m->placed = true;
    return at;
}

// Data of a long message, checked to lie within it.
void End::store(LongReceive& m, uint64_t offset, std::span<const std::byte> data) {
    const uint64_t chunk = offset / wire::frame_chunk;
    if (chunk >= m.have.size() || offset + data.size() > m.length) return;
    m.heard_ns = world_.now_ns();
    bulk_ns_ = m.heard_ns;
    if (m.have[chunk]) {
        ++counters_.duplicates;
        m.owed_bytes = limits_.ack_bytes;
    } else {
        put(m, offset, data);
        m.have[chunk] = true;
        --m.missing;
        while (m.next < m.have.size() && m.have[m.next]) ++m.next;
    }
    m.owed_bytes += data.size();
    if (m.posted && m.missing == 0) return finish_if_whole(m);
    if (m.owed_bytes >= limits_.ack_bytes && send_grant(m)) return;
    if (m.owed_ns == 0) m.owed_ns = m.heard_ns + limits_.ack_ns;
    acks_owed_ns_ = std::min(acks_owed_ns_, m.owed_ns);
}

void End::put(LongReceive& m, uint64_t offset, std::span<const std::byte> data) {
    if (m.dropped || data.empty()) return;
    if (!m.posted) {
        if (m.early.size() < offset + data.size()) m.early.resize(offset + data.size());
        std::memcpy(m.early.data() + offset, data.data(), data.size());
    } else if (m.to.at != nullptr) {
        if (m.to.at + offset == data.data()) return; // it was placed there
        std::memcpy(m.to.at + offset, data.data(), data.size());
    } else {
        sink_.store(m.to.operation, offset, data.data(), data.size());
    }
}

void End::receive(LongReceive& m, const Memory& to) {
    const std::vector<std::byte> early = std::move(m.early);
    m.to = to;
    m.posted = true;
    for (uint64_t chunk = 0; chunk < m.have.size() && chunk * wire::frame_chunk < early.size(); ++chunk) {
        if (!m.have[chunk]) continue;
        const uint64_t offset = chunk * wire::frame_chunk;
        put(m, offset,
            std::span(early).subspan(offset, std::min<uint64_t>(wire::frame_chunk, early.size() - offset)));
    }
    if (m.flow->failed && m.missing != 0) { // the rest does not come any more
        close_receive(m);
        return sink_.received(sink_.subject, to.operation, Outcome::failed);
    }
    const bool more = m.have.size() > 1;
    if (more && m.missing != 0) static_cast<void>(send_grant(m)); // first: the sender goes on meanwhile
    if (!m.have[0] && (!m.first.empty() || m.length == 0)) return store(m, 0, m.first);
    finish_if_whole(m);
}

void End::drop(LongReceive& m) {
    Flow& f = *m.flow;
    const uint64_t sequence = m.sequence;
    close_receive(m);
    static_cast<void>(send_grant(f, sequence, all_here));
}

void End::finish_if_whole(LongReceive& m) {
    if (!m.posted || m.missing != 0) return;
    Flow& f = *m.flow;
    const uint64_t sequence = m.sequence;
    void* const operation = m.to.operation;
    close_receive(m);
    static_cast<void>(send_grant(f, sequence, all_here));
    sink_.received(sink_.subject, operation, Outcome::done);
}

void End::close_receive(LongReceive& m) {
    if (m.placed) world_.withdraw(world_.subject, {m.to.at, m.length});
    m.flow->long_receives.erase(m.sequence);
    receives_.erase(&m);
}

void End::owe_ack(Flow& f, uint64_t bytes) {
    f.owed_bytes += bytes;
    ++f.owed_messages;
    if ((f.owed_bytes >= limits_.ack_bytes || f.owed_messages >= limits_.ack_messages) && send_ack(f)) return;
    if (f.owed_ns == 0) f.owed_ns = world_.now_ns() + limits_.ack_ns;
    acks_owed_ns_ = std::min(acks_owed_ns_, f.owed_ns);
}

bool End::send_ack(Flow& f) {
    wire::AckBitmap ack{f.deliver_next, {}};
    for (const auto& [sequence, early] : f.early) {
        if (!early.has_first || sequence <= f.deliver_next) continue;
        const uint64_t bit = sequence - f.deliver_next - 1;
        if (bit < wire::flow_window) ack.seen[bit / 64] |= uint64_t{1} << bit % 64;
    }
    wire::Frame frame{};
    frame.type = wire::FrameType::ack;
    const int lane = control_lane(f);
    if (lane < 0 || !went(send_frame(f, lane, frame, std::as_bytes(std::span(&ack, 1)), {}, nullptr)))
        return false;
    f.owed_ns = f.owed_bytes = 0;
    f.owed_messages = 0;
    return true;
}

// How far the long message is, if its beginning has come.
void End::answer_question(Flow& f, uint64_t sequence) {
    const auto found = f.long_receives.find(sequence);
    if (found != f.long_receives.end())
        static_cast<void>(send_grant(*found->second));
    else if (sequence < f.deliver_next)
        static_cast<void>(send_grant(f, sequence, all_here));
}

bool End::send_grant(Flow& f, uint64_t sequence, const wire::Grant& grant) {
    wire::Frame frame{};
    frame.type = wire::FrameType::grant;
    frame.sequence = sequence;
    const int lane = control_lane(f);
    return lane >= 0 && went(send_frame(f, lane, frame, std::as_bytes(std::span(&grant, 1)), {}, nullptr));
}

bool End::send_grant(LongReceive& m) {
    if (!send_grant(*m.flow, m.sequence, m.grant())) return false;
    m.owed_bytes = m.owed_ns = 0;
    return true;
}

} // namespace zipmpi::bridge
