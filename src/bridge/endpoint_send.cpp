// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Send side of an endpoint.
#include "bridge/flow_state.hpp"

#include <algorithm>
#include <utility>

namespace zipmpi::bridge {
namespace {

constexpr uint64_t chunk_window = 64; // chunks beyond the first one missing at the receiver: bits of a grant
constexpr uint32_t chunks_per_turn = 8;
constexpr uint64_t small = uint64_t{16} * 1024; // a flow's messages up to this size stay on one path
constexpr double switch_factor = 2;             // until another path is better by this factor
constexpr uint64_t frame_cost = 512;            // overhead of a frame in bytes

} // namespace

UnackedFrame& Endpoint::make_first_frame(Flow& flow, const wire::Envelope& e, const std::byte* payload,
                                         uint64_t length) {
    auto* const unacked = new UnackedFrame;
    unacked->flow = &flow;
    unacked->type = wire::FrameType::message;
    unacked->context = e.context;
    unacked->tag = e.tag;
    unacked->sequence = flow.base + flow.window.size();
    unacked->length = length;
    const wire::MessageHead head{e.kind, e.flags, e.inline_bytes, 0, e.source, e.sync_id};
    std::memcpy(unacked->head, &head, sizeof head);
    if (e.inline_bytes != 0) std::memcpy(unacked->head + sizeof head, payload, e.inline_bytes);
    unacked->head_bytes = sizeof head + e.inline_bytes;
    flow.window.push_back(unacked);
    unacked->best_effort = e.kind == wire::MessageKind::context_release;
    best_effort_ += unacked->best_effort ? 1 : 0;
    ++unacknowledged_;
    ++counters_.messages_out;
    return *unacked;
}

PostStatus Endpoint::send(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                          const BufferRef& data) {
    Flow& f = *flows_[peer];
    if (f.failed) return PostStatus::failed;
    const bool full = f.window.size() >= wire::flow_window || f.retained + data.bytes > limits_.retained;
    if (full && !f.window.empty()) return PostStatus::would_block;
    UnackedFrame& unacked = make_first_frame(f, envelope, payload, data.bytes);
    if (data.bytes != 0) {
        unacked.copy.resize(data.bytes);
        if (data.at != nullptr)
            std::memcpy(unacked.copy.data(), data.at, data.bytes);
        else
            callbacks_.pack(data.operation, 0, unacked.copy.data(), data.bytes);
        unacked.data = unacked.copy;
        f.retained += data.bytes;
    }
    queue(f, unacked, false);
    drain_send_queue();
    return PostStatus::done;
}

PostStatus Endpoint::send_chunked(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                                  const BufferRef& data) {
    Flow& f = *flows_[peer];
    if (f.failed) return PostStatus::failed;
    if (f.window.size() >= wire::flow_window) return PostStatus::would_block;
    UnackedFrame& unacked = make_first_frame(f, envelope, payload, data.bytes);
    auto owned = std::make_unique<ChunkedSend>();
    ChunkedSend& message = *owned;
    message.flow = &f;
    message.sequence = unacked.sequence;
    message.context = envelope.context;
    message.tag = envelope.tag;
    message.memory = data;
    message.last_heard_ns = io_.now_ns();
    message.granted = limits_.eager_bytes;
    message.chunks = chunks_of(data.bytes);
    message.in_flight.resize(message.chunks);
    f.chunked_sends.emplace(unacked.sequence, std::move(owned));
    ++open_chunked_sends_;
    unacked.head[offsetof(wire::MessageHead, chunked)] = std::byte{1};
    unacked.message = &message;
    const uint64_t first = std::min<uint64_t>(data.bytes, wire::frame_chunk);
    if (data.at != nullptr) {
        unacked.data = {data.at, first};
    } else if (first != 0) {
        unacked.copy.resize(first);
        callbacks_.pack(data.operation, 0, unacked.copy.data(), first);
        unacked.data = unacked.copy;
    }
    message.in_flight[0] = &unacked;
    queue(f, unacked, false);
    if (message.chunks > 1) {
        message.listed = true;
        f.sending.push_back(&message);
    }
    drain_send_queue();
    return PostStatus::in_flight;
}

void Endpoint::queue(Flow& f, UnackedFrame& unacked, bool in_front) {
    unacked.queued = true;
    if (in_front)
        f.ready.push_front(&unacked);
    else
        f.ready.push_back(&unacked);
    enqueue(f);
}

void Endpoint::enqueue(Flow& f) {
    if (f.in_send_queue) return;
    f.in_send_queue = true;
    send_queue_.push_back(&f);
}

// Sends one frame of each flow in turn while paths accept frames.
int Endpoint::drain_send_queue() {
    int happened = 0;
    size_t stuck = 0;
    while (!send_queue_.empty() && stuck < send_queue_.size()) {
        Flow& f = *send_queue_.front();
        send_queue_.pop_front();
        const bool moved = push(f);
        if (moved) {
            ++happened;
            stuck = 0;
        } else {
            ++stuck;
        }
        if (f.ready.empty() && f.sending.empty()) {
            f.in_send_queue = false;
            stuck = 0;
        } else {
            send_queue_.push_back(&f);
        }
    }
    return happened;
}

bool Endpoint::push(Flow& f) {
    while (!f.ready.empty() && f.ready.front()->acknowledged) {
        UnackedFrame& done = *f.ready.front();
        f.ready.pop_front();
        done.queued = false;
        delete_if_done(done);
    }
    if (f.ready.empty()) return push_chunk(f);
    UnackedFrame& unacked = *f.ready.front();
    const int path = choose_path(f, unacked.data.size());
    if (path < 0 || !transmit(unacked, path)) return false;
    f.ready.pop_front();
    unacked.queued = false;
    return true;
}

// Visits the long messages of a flow in turn, several chunks each, so that these are acknowledged together.
bool Endpoint::push_chunk(Flow& f) {
    for (size_t tries = f.sending.size(); tries != 0; --tries) {
        ChunkedSend& m = *f.sending.front();
        f.sending.pop_front();
        const uint64_t offset = m.next * wire::frame_chunk;
        if (m.complete || m.next == m.chunks || offset >= m.granted || m.next >= m.peer_next + chunk_window) {
            m.listed = false; // on_grant() lists it again
            continue;
        }
        if (++m.turn % chunks_per_turn != 0)
            f.sending.push_front(&m);
        else
            f.sending.push_back(&m);
        const uint64_t bytes = std::min<uint64_t>(m.memory.bytes - offset, wire::frame_chunk);
        const int path = choose_path(f, bytes);
        if (path < 0) return false;
        auto* const unacked = new UnackedFrame;
        unacked->flow = &f;
        unacked->message = &m;
        unacked->type = wire::FrameType::chunk;
        unacked->context = m.context;
        unacked->tag = m.tag;
        unacked->sequence = m.sequence;
        unacked->offset = offset;
        unacked->length = m.memory.bytes;
        if (m.memory.at != nullptr) {
            unacked->data = {m.memory.at + offset, bytes};
        } else {
            unacked->copy.resize(bytes);
            callbacks_.pack(m.memory.operation, offset, unacked->copy.data(), bytes);
            unacked->data = unacked->copy;
        }
        ++unacknowledged_;
        m.in_flight[m.next++] = unacked;
        if (!transmit(*unacked, path)) queue(f, *unacked, false);
        return true;
    }
    return false;
}

// Selects the path with the earliest expected completion, preferring paths heard recently. The others are
// probed; otherwise each flow would detect a hung gateway on its own, one after the other. A returned path is
// used when the peer has had time to detect it too.
int Endpoint::choose_path(Flow& f, uint64_t bytes) {
    int best = -1;
    double best_ns = 0;
    double last_ns = -1;
    const uint64_t now = f.paths.size() > 1 ? io_.now_ns() : 0;
    const auto silent = [&](const Path& path) { return path.last_heard_ns + limits_.heartbeat_ns < now; };
    const auto trusted = [&](const Path& path) {
        return path.up && !silent(path) && path.trusted_from_ns <= now;
    };
    const bool any_trusted =
        std::ranges::any_of(f.paths, [&](int l) { return trusted(paths_[static_cast<size_t>(l)]); });
    for (const int l : f.paths) {
        const Path& path = paths_[static_cast<size_t>(l)];
        if (path.up && any_trusted && !trusted(path)) {
            if (silent(path) && path.probe_sent_ns == 0) static_cast<void>(probe_path(l, now));
            continue;
        }
        if (!path.up || (path.unacked_bytes != 0 && path.unacked_bytes + bytes > limits_.path_bytes))
            continue;
        const double ns = static_cast<double>(path.unacked_bytes + bytes + frame_cost) * path.ns_per_byte;
        if (l == f.last_path) last_ns = ns;
        if (best >= 0 && ns >= best_ns) continue;
        best = l;
        best_ns = ns;
    }
    if (bytes <= small && last_ns >= 0 && last_ns <= switch_factor * best_ns) return f.last_path;
    if (best >= 0) f.last_path = best;
    return best;
}

bool Endpoint::transmit(UnackedFrame& unacked, int path) {
    wire::Frame frame{};
    frame.type = unacked.type;
    frame.context = unacked.context;
    frame.tag = unacked.tag;
    frame.sequence = unacked.sequence;
    frame.offset = unacked.offset;
    frame.length = unacked.length;
    const size_t sealed = unacked.sealed.size();
    const PostStatus posted =
        send_frame(*unacked.flow, path, frame, {unacked.head, unacked.head_bytes}, unacked.data, &unacked);
    if (posted != PostStatus::in_flight) release_sealed(unacked, sealed);
    if (posted == PostStatus::would_block || posted == PostStatus::failed) return false;
    if (unacked.transmissions++ != 0) ++counters_.retransmitted;
    if (posted == PostStatus::in_flight) {
        ++unacked.in_network;
        if (unacked.message != nullptr) ++unacked.message->in_network;
    }
    track_on_path(path, unacked);
    return true;
}

// Adds the acknowledgement that is due.
PostStatus Endpoint::send_frame(Flow& f, int path, wire::Frame frame, std::span<const std::byte> head,
                                std::span<const std::byte> data, void* ticket) {
    std::byte bytes[wire::frame_head_max + sizeof(wire::AckBitmap)];
    size_t used = sizeof frame;
    const auto add = [&](std::span<const std::byte> sub) {
        if (!sub.empty()) std::memcpy(bytes + used, sub.data(), sub.size());
        used += sub.size();
    };
    const bool with_ack = f.ack_due_ns != 0 && ticket != nullptr;
    if (with_ack) {
        wire::AckBlock ack{f.deliver_next, 0};
        for (const auto& [sequence, early] : f.reordered)
            if (early.has_first && sequence > f.deliver_next && sequence - f.deliver_next <= 64)
                ack.seen |= uint64_t{1} << (sequence - f.deliver_next - 1);
        add(std::as_bytes(std::span(&ack, 1)));
        frame.flags = wire::frame_has_ack;
    }
    const size_t seal_at = used;
    if (io_.aead != nullptr) {
        frame.flags |= wire::frame_encrypted;
        used += sizeof(wire::AeadHeader);
    }
    const size_t head_at = used;
    add(head);
    frame.job = job_;
    frame.from = own_id_;
    frame.to = f.world_rank;
    frame.hops = wire::frame_hops;
    frame.path = static_cast<uint8_t>(path);
    frame.bytes = static_cast<uint32_t>(used - sizeof frame + data.size());
    if (io_.aead != nullptr) {
        wire::AeadHeader of_frame{};
        if (!seal(f, frame, {bytes + sizeof frame, seal_at - sizeof frame}, {bytes + head_at, head.size()},
                  data, static_cast<UnackedFrame*>(ticket), of_frame))
            return PostStatus::failed;
        std::memcpy(bytes + seal_at, &of_frame, sizeof of_frame);
    }
    finalize(frame);
    std::memcpy(bytes, &frame, sizeof frame);
    const PostStatus posted = io_.send(io_.subject, path, {bytes, used}, data, ticket);
    if (posted == PostStatus::would_block || posted == PostStatus::failed) return posted;
    if (with_ack) {
        f.ack_due_ns = f.ack_due_bytes = 0;
        f.ack_due_messages = 0;
    }
    if (ticket == nullptr) count_control(paths_[static_cast<size_t>(path)]);
    ++(ticket != nullptr ? counters_.frames_out : counters_.control_out);
    return posted;
}

void Endpoint::on_acknowledged(UnackedFrame& unacked) {
    if (std::exchange(unacked.acknowledged, true)) return;
    --unacknowledged_;
    best_effort_ -= unacked.best_effort ? 1 : 0;
    untrack(unacked);
    if (unacked.message == nullptr) unacked.flow->retained -= unacked.data.size();
    delete_if_done(unacked);
}

void Endpoint::delete_if_done(UnackedFrame& unacked) {
    if (unacked.acknowledged && unacked.in_network == 0 && !unacked.queued) delete &unacked;
}

void Endpoint::on_frame_sent(void* ticket) {
    UnackedFrame& unacked = *static_cast<UnackedFrame*>(ticket);
    ChunkedSend* const message = unacked.message;
    if (--unacked.in_network == 0) release_sealed(unacked, 0);
    delete_if_done(unacked);
    if (message == nullptr) return;
    --message->in_network;
    if (!message->abandoned) return finish_if_done(*message);
    if (message->in_network != 0) return;
    void* const operation = message->memory.operation;
    std::erase_if(message->flow->abandoned, [&](const auto& m) { return m.get() == message; });
    callbacks_.sent(callbacks_.subject, operation, OpStatus::failed);
}

void Endpoint::on_ack(Flow& f, uint64_t next, std::span<const uint64_t> seen) {
    const uint64_t end = f.base + f.window.size();
    if (next > end) return; // acknowledges frames never sent
    for (uint64_t s = f.base; s < next; ++s) acknowledge_first(f, s);
    for (uint64_t i = 0; i < seen.size() * 64; ++i)
        if ((seen[i / 64] >> i % 64 & 1U) != 0) acknowledge_first(f, next + 1 + i);
    while (!f.window.empty() && f.window.front() == nullptr) {
        f.window.pop_front();
        ++f.base;
    }
}

void Endpoint::acknowledge_first(Flow& f, uint64_t sequence) {
    if (sequence < f.base || sequence - f.base >= f.window.size()) return;
    UnackedFrame* const unacked = std::exchange(f.window[sequence - f.base], nullptr);
    if (unacked == nullptr) return;
    ChunkedSend* const message = unacked->message;
    on_acknowledged(*unacked);
    if (message == nullptr) return;
    message->first_acknowledged = true;
    message->in_flight[0] = nullptr;
    finish_if_done(*message);
}

void Endpoint::on_grant(Flow& f, uint64_t sequence, const wire::Grant& grant) {
    const auto found = f.chunked_sends.find(sequence);
    if (found == f.chunked_sends.end()) return;
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
        const auto still = f.chunked_sends.find(sequence);
        if (still != f.chunked_sends.end()) finish_if_done(*still->second);
        return;
    }
    if (m.next == m.chunks || m.listed) return;
    m.listed = true;
    f.sending.push_back(&m);
    enqueue(f);
}

void Endpoint::finish_if_done(ChunkedSend& m) {
    if (!m.complete || !m.first_acknowledged || m.in_network != 0) return;
    Flow& f = *m.flow;
    std::erase(f.sending, &m);
    void* const operation = m.memory.operation;
    // Acknowledged frames still in the queue are deleted there; detach them from their message.
    for (UnackedFrame* unacked : f.ready)
        if (unacked->message == &m) unacked->message = nullptr;
    f.chunked_sends.erase(m.sequence);
    --open_chunked_sends_;
    callbacks_.sent(callbacks_.subject, operation, OpStatus::done);
}

// A grant may have been lost. A grant frame without content requests the receiver's state.
void Endpoint::probe_receiver(ChunkedSend& m) {
    wire::Frame frame{};
    frame.type = wire::FrameType::grant;
    frame.sequence = m.sequence;
    m.last_heard_ns = io_.now_ns();
    const int path = control_path(*m.flow);
    if (path >= 0) static_cast<void>(send_frame(*m.flow, path, frame, {}, {}, nullptr));
}

// The peer is no longer reachable.
void Endpoint::fail(Flow& f) {
    f.failed = true;
    const auto acknowledge = [&](UnackedFrame*& slot) {
        UnackedFrame* const unacked = std::exchange(slot, nullptr);
        if (unacked == nullptr) return;
        on_acknowledged(*unacked);
    };
    auto sends = std::exchange(f.chunked_sends, {});
    open_chunked_sends_ -= sends.size();
    f.sending.clear();
    for (const auto& [sequence, m] : sends)
        for (uint64_t i = 1; i < m->chunks; ++i) acknowledge(m->in_flight[i]);
    for (UnackedFrame*& unacked : f.window) acknowledge(unacked);
    f.base += f.window.size();
    f.window.clear();
    for (UnackedFrame* unacked : f.ready) // acknowledged; deleted by drain_send_queue()
        if (unacked->in_network == 0) unacked->message = nullptr; // else on_frame_sent() counts it
    std::vector<void*> ended;
    for (auto& [sequence, m] : sends) {
        m->abandoned = true;
        if (m->in_network == 0)
            ended.push_back(m->memory.operation);
        else
            f.abandoned.push_back(std::move(m)); // on_frame_sent() ends it
    }
    for (void* const operation : ended) callbacks_.sent(callbacks_.subject, operation, OpStatus::failed);
    const auto receives = f.chunked_receives;
    for (const auto& [sequence, r] : receives) {
        if (!r->posted) continue;
        void* const operation = r->to.operation;
        close_receive(*r);
        callbacks_.fetched(callbacks_.subject, operation, OpStatus::failed);
    }
    callbacks_.peer_failed(callbacks_.subject, f.index, "no gateway reaches it any longer");
}

} // namespace zipmpi::bridge
