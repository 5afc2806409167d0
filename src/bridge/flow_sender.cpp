// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/flow_sender.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace zipmpi::bridge {
namespace {

constexpr uint32_t chunks_per_turn = 8;

void delete_if_done(UnackedFrame& unacked) {
    if (unacked.acknowledged && unacked.in_network == 0 && !unacked.queued) delete &unacked;
}

} // namespace

FlowSendState::~FlowSendState() {
    for (const UnackedFrame* unacked : ready) // first: the others are also in the window or in a message
        if (unacked->acknowledged) delete unacked;
    for (const UnackedFrame* unacked : window) delete unacked;
    for (const auto& [sequence, m] : chunked_sends)
        for (size_t i = 1; i < m->in_flight.size(); ++i) delete m->in_flight[i];
}

UnackedFrame& FlowSender::make_first_frame(Flow& flow, const wire::Envelope& e, const std::byte* payload,
                                           uint64_t length) {
    auto* const unacked = new UnackedFrame;
    unacked->flow = &flow;
    unacked->fields.type = wire::FrameType::message;
    unacked->fields.context = e.context;
    unacked->fields.tag = e.tag;
    unacked->fields.sequence = flow.out.base + flow.out.window.size();
    unacked->fields.length = length;
    const wire::MessageHead head{e.kind, e.flags, e.inline_bytes, 0, e.source, e.sync_id};
    std::memcpy(unacked->head, &head, sizeof head);
    if (e.inline_bytes != 0) std::memcpy(unacked->head + sizeof head, payload, e.inline_bytes);
    unacked->head_bytes = sizeof head + e.inline_bytes;
    flow.out.window.push_back(unacked);
    unacked->best_effort = e.kind == wire::MessageKind::context_release;
    best_effort_ += unacked->best_effort ? 1 : 0;
    ++unacknowledged_;
    ++counters_.messages_out;
    return *unacked;
}

// Data in the user's memory is not copied.
void FlowSender::set_data(UnackedFrame& unacked, const BufferRef& data, uint64_t offset, uint64_t bytes) {
    if (data.at != nullptr) {
        unacked.data = {data.at + offset, bytes};
    } else if (bytes != 0) {
        unacked.copy.resize(bytes);
        listener_.pack(data.operation, offset, unacked.copy.data(), bytes);
        unacked.data = unacked.copy;
    }
}

PostStatus FlowSender::send(Flow& f, const wire::Envelope& envelope, const std::byte* payload,
                            const BufferRef& data) {
    if (f.failed) return PostStatus::failed;
    FlowSendState& out = f.out;
    const bool full = out.window.size() >= wire::flow_window || out.retained + data.bytes > limits_.retained;
    if (full && !out.window.empty()) return PostStatus::would_block;
    UnackedFrame& unacked = make_first_frame(f, envelope, payload, data.bytes);
    if (data.bytes != 0) {
        unacked.copy.resize(data.bytes);
        if (data.at != nullptr)
            std::memcpy(unacked.copy.data(), data.at, data.bytes);
        else
            listener_.pack(data.operation, 0, unacked.copy.data(), data.bytes);
        unacked.data = unacked.copy;
        out.retained += data.bytes;
    }
    queue(unacked);
    drain();
    return PostStatus::done;
}

ChunkedSend& FlowSender::make_chunked_send(Flow& f, UnackedFrame& first, const BufferRef& data) {
    auto owned = std::make_unique<ChunkedSend>();
    ChunkedSend& message = *owned;
    message.flow = &f;
    message.fields = first.fields;
    message.fields.type = wire::FrameType::chunk;
    message.memory = data;
    message.last_heard_ns = io_.now_ns();
    message.granted = limits_.eager_bytes;
    message.chunks = chunks_of(data.bytes);
    message.in_flight.resize(message.chunks);
    message.in_flight[0] = &first;
    f.out.chunked_sends.emplace(message.fields.sequence, std::move(owned));
    ++open_chunked_sends_;
    return message;
}

PostStatus FlowSender::send_chunked(Flow& f, const wire::Envelope& envelope, const std::byte* payload,
                                    const BufferRef& data) {
    if (f.failed) return PostStatus::failed;
    if (f.out.window.size() >= wire::flow_window) return PostStatus::would_block;
    UnackedFrame& unacked = make_first_frame(f, envelope, payload, data.bytes);
    ChunkedSend& message = make_chunked_send(f, unacked, data);
    unacked.head[offsetof(wire::MessageHead, chunked)] = std::byte{1};
    unacked.message = &message;
    set_data(unacked, data, 0, std::min<uint64_t>(data.bytes, wire::frame_chunk));
    queue(unacked);
    if (message.chunks > 1) {
        message.listed = true;
        f.out.sending.push_back(&message);
    }
    drain();
    return PostStatus::in_flight;
}

void FlowSender::queue(UnackedFrame& unacked) {
    unacked.queued = true;
    unacked.flow->out.ready.push_back(&unacked);
    enqueue(*unacked.flow);
}

void FlowSender::enqueue(Flow& f) {
    if (f.out.in_send_queue) return;
    f.out.in_send_queue = true;
    queue_.push_back(&f);
}

int FlowSender::drain() {
    int happened = 0;
    size_t stuck = 0;
    while (!queue_.empty() && stuck < queue_.size()) {
        Flow& f = *queue_.front();
        queue_.pop_front();
        const bool moved = push(f);
        if (moved) {
            ++happened;
            stuck = 0;
        } else {
            ++stuck;
        }
        if (f.out.ready.empty() && f.out.sending.empty()) {
            f.out.in_send_queue = false;
            stuck = 0;
        } else {
            queue_.push_back(&f);
        }
    }
    return happened;
}

bool FlowSender::push(Flow& f) {
    std::deque<UnackedFrame*>& ready = f.out.ready;
    while (!ready.empty() && ready.front()->acknowledged) {
        UnackedFrame& done = *ready.front();
        ready.pop_front();
        done.queued = false;
        delete_if_done(done);
    }
    if (ready.empty()) return push_chunk(f);
    UnackedFrame& unacked = *ready.front();
    const int path = paths_.choose(f.route, unacked.data.size());
    if (path < 0 || !transmit(unacked, path)) return false;
    ready.pop_front();
    unacked.queued = false;
    return true;
}

// Visits the long messages of a flow in turn, several chunks each, so that these are acknowledged together.
bool FlowSender::push_chunk(Flow& f) {
    std::deque<ChunkedSend*>& sending = f.out.sending;
    for (size_t tries = sending.size(); tries != 0; --tries) {
        ChunkedSend& m = *sending.front();
        sending.pop_front();
        const uint64_t offset = m.next * wire::frame_chunk;
        if (m.complete || m.next == m.chunks || offset >= m.granted ||
            m.next >= m.peer_next + ChunkSet::ahead_max) {
            m.listed = false; // on_grant() lists it again
            continue;
        }
        if (++m.turn % chunks_per_turn != 0)
            sending.push_front(&m);
        else
            sending.push_back(&m);
        const uint64_t bytes = std::min<uint64_t>(m.memory.bytes - offset, wire::frame_chunk);
        const int path = paths_.choose(f.route, bytes);
        if (path < 0) return false;
        UnackedFrame& unacked = make_chunk(m, bytes);
        if (!transmit(unacked, path)) queue(unacked);
        return true;
    }
    return false;
}

UnackedFrame& FlowSender::make_chunk(ChunkedSend& m, uint64_t bytes) {
    auto* const unacked = new UnackedFrame;
    unacked->flow = m.flow;
    unacked->message = &m;
    unacked->fields = m.fields;
    unacked->fields.offset = m.next * wire::frame_chunk;
    set_data(*unacked, m.memory, unacked->fields.offset, bytes);
    ++unacknowledged_;
    m.in_flight[m.next++] = unacked;
    return *unacked;
}

bool FlowSender::transmit(UnackedFrame& unacked, int path) {
    const PostStatus posted = transmitter_.send_data(unacked, path);
    if (posted == PostStatus::would_block || posted == PostStatus::failed) return false;
    if (unacked.transmissions++ != 0) ++counters_.retransmitted;
    if (posted == PostStatus::in_flight) {
        ++unacked.in_network;
        if (unacked.message != nullptr) ++unacked.message->in_network;
    }
    paths_.track(path, unacked);
    if (unacked.fields.type == wire::FrameType::chunk) last_chunk_ns_ = unacked.last.sent_ns;
    return true;
}

bool FlowSender::has_pending() const {
    return unacknowledged_ != 0 || !queue_.empty() || open_chunked_sends_ != 0;
}

void FlowSender::retransmit(UnackedFrame& unacked) {
    paths_.untrack(unacked);
    if (!unacked.queued) queue(unacked);
}

void FlowSender::on_acknowledged(UnackedFrame& unacked) {
    if (std::exchange(unacked.acknowledged, true)) return;
    --unacknowledged_;
    best_effort_ -= unacked.best_effort ? 1 : 0;
    paths_.untrack(unacked);
    if (unacked.message == nullptr) unacked.flow->out.retained -= unacked.data.size();
    delete_if_done(unacked);
}

void FlowSender::on_frame_sent(UnackedFrame& unacked) {
    ChunkedSend* const message = unacked.message;
    if (--unacked.in_network == 0) transmitter_.release_sealed(unacked);
    delete_if_done(unacked);
    if (message == nullptr) return;
    --message->in_network;
    if (!message->abandoned) return finish_if_done(*message);
    if (message->in_network != 0) return;
    NetworkOperation* const operation = message->memory.operation;
    std::erase_if(message->flow->out.abandoned, [&](const auto& m) { return m.get() == message; });
    listener_.send_finished(operation, OpStatus::failed);
}

void FlowSender::on_ack(Flow& f, uint64_t next, std::span<const uint64_t> seen) {
    FlowSendState& out = f.out;
    const uint64_t end = out.base + out.window.size();
    if (next > end) return; // acknowledges frames never sent
    for (uint64_t s = out.base; s < next; ++s) acknowledge_first(f, s);
    for (uint64_t i = 0; i < seen.size() * 64; ++i)
        if ((seen[i / 64] >> i % 64 & 1U) != 0) acknowledge_first(f, next + 1 + i);
    while (!out.window.empty() && out.window.front() == nullptr) {
        out.window.pop_front();
        ++out.base;
    }
}

void FlowSender::acknowledge_first(Flow& f, uint64_t sequence) {
    FlowSendState& out = f.out;
    if (sequence < out.base || sequence - out.base >= out.window.size()) return;
    UnackedFrame* const unacked = std::exchange(out.window[sequence - out.base], nullptr);
    if (unacked == nullptr) return;
    ChunkedSend* const message = unacked->message;
    on_acknowledged(*unacked);
    if (message == nullptr) return;
    message->first_acknowledged = true;
    message->in_flight[0] = nullptr;
    finish_if_done(*message);
}

void FlowSender::on_grant(Flow& f, uint64_t sequence, const wire::Grant& grant) {
    const auto found = f.out.chunked_sends.find(sequence);
    if (found == f.out.chunked_sends.end()) return;
    ChunkedSend& m = *found->second;
    m.last_heard_ns = io_.now_ns();
    const auto has_come = [&](uint64_t chunk) {
        if (chunk == 0 || chunk >= m.next) return;
        if (UnackedFrame* const unacked = std::exchange(m.in_flight[chunk], nullptr))
            on_acknowledged(*unacked);
    };
    const bool complete = grant.complete != 0;
    const uint64_t below = complete ? m.chunks : std::min(grant.next, m.next);
    for (uint64_t i = m.peer_next; i < below; ++i) has_come(i);
    m.peer_next = std::max(m.peer_next, below);
    for (uint64_t i = 0; i < 64 && !complete; ++i)
        if ((grant.seen >> i & 1U) != 0) has_come(grant.next + 1 + i);
    m.granted = std::max(m.granted, std::min(grant.granted, m.memory.bytes));
    m.complete = m.complete || complete;
    if (m.complete) {
        acknowledge_first(f, sequence);
        const auto still = f.out.chunked_sends.find(sequence);
        if (still != f.out.chunked_sends.end()) finish_if_done(*still->second);
        return;
    }
    if (m.next == m.chunks || m.listed) return;
    m.listed = true;
    f.out.sending.push_back(&m);
    enqueue(f);
}

void FlowSender::finish_if_done(ChunkedSend& m) {
    if (!m.complete || !m.first_acknowledged || m.in_network != 0) return;
    FlowSendState& out = m.flow->out;
    std::erase(out.sending, &m);
    NetworkOperation* const operation = m.memory.operation;
    // Acknowledged frames still in the queue are deleted there; detach them from their message.
    for (UnackedFrame* unacked : out.ready)
        if (unacked->message == &m) unacked->message = nullptr;
    out.chunked_sends.erase(m.fields.sequence);
    --open_chunked_sends_;
    listener_.send_finished(operation, OpStatus::done);
}

// A grant frame without content requests the receiver's state.
void FlowSender::probe_receivers(Flow& f, uint64_t now, uint64_t silent_ns) {
    for (const auto& [sequence, m] : f.out.chunked_sends) {
        if (elapsed(now, m->last_heard_ns) < silent_ns) continue;
        m->last_heard_ns = io_.now_ns();
        static_cast<void>(transmitter_.send_control(f, wire::FrameType::grant, sequence, {}));
    }
}

void FlowSender::acknowledge_all(Flow& f) {
    const auto acknowledge = [&](UnackedFrame*& slot) {
        UnackedFrame* const unacked = std::exchange(slot, nullptr);
        if (unacked != nullptr) on_acknowledged(*unacked);
    };
    for (const auto& [sequence, m] : f.out.chunked_sends)
        for (uint64_t i = 1; i < m->chunks; ++i) acknowledge(m->in_flight[i]);
    for (UnackedFrame*& unacked : f.out.window) acknowledge(unacked);
    f.out.base += f.out.window.size();
    f.out.window.clear();
    for (UnackedFrame* unacked : f.out.ready)                     // acknowledged; deleted by drain()
        if (unacked->in_network == 0) unacked->message = nullptr; // else on_frame_sent() counts it
}

void FlowSender::fail(Flow& f) {
    f.out.sending.clear();
    acknowledge_all(f);
    auto sends = std::exchange(f.out.chunked_sends, {});
    open_chunked_sends_ -= sends.size();
    std::vector<NetworkOperation*> ended;
    for (auto& [sequence, m] : sends) {
        m->abandoned = true;
        if (m->in_network == 0)
            ended.push_back(m->memory.operation);
        else
            f.out.abandoned.push_back(std::move(m)); // on_frame_sent() ends it
    }
    for (NetworkOperation* const operation : ended) listener_.send_finished(operation, OpStatus::failed);
}

} // namespace zipmpi::bridge
