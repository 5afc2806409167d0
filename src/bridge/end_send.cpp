// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The sending half of an end.
#include "bridge/end_parts.hpp"

#include <algorithm>
#include <utility>

namespace zipmpi::bridge {
namespace {

constexpr uint64_t chunk_window = 64; // of a long message, beyond what the receiver misses: bits of a grant
constexpr uint32_t chunks_in_turn = 8;
constexpr uint64_t small = uint64_t{16} * 1024; // a flow's messages up to here keep to one lane
constexpr double worse_by = 2;                  // until another is so much better
constexpr uint64_t frame_cost = 512;            // bytes that a frame costs beside its own

} // namespace

Piece& End::make_first(Flow& flow, const wire::Envelope& e, const std::byte* payload, uint64_t length) {
    auto* const piece = new Piece;
    piece->flow = &flow;
    piece->type = wire::FrameType::message;
    piece->context = e.context;
    piece->tag = e.tag;
    piece->sequence = flow.base + flow.window.size();
    piece->length = length;
    const wire::MessageHead head{e.kind, e.flags, e.inline_bytes, 0, e.source, e.sync_id};
    std::memcpy(piece->head, &head, sizeof head);
    if (e.inline_bytes != 0) std::memcpy(piece->head + sizeof head, payload, e.inline_bytes);
    piece->head_bytes = sizeof head + e.inline_bytes;
    flow.window.push_back(piece);
    piece->notice = e.kind == wire::Kind::give_back;
    notices_ += piece->notice ? 1 : 0;
    ++unacknowledged_;
    ++counters_.messages_out;
    return *piece;
}

Posted End::send(Peer peer, const wire::Envelope& envelope, const std::byte* payload, const Memory& data) {
    Flow& f = *flows_[peer];
    if (f.failed) return Posted::failed;
    const bool full = f.window.size() >= wire::flow_window || f.retained + data.bytes > limits_.retained;
    if (full && !f.window.empty()) return Posted::would_block;
    Piece& piece = make_first(f, envelope, payload, data.bytes);
    if (data.bytes != 0) {
        piece.copy.resize(data.bytes);
        if (data.at != nullptr)
            std::memcpy(piece.copy.data(), data.at, data.bytes);
        else
            sink_.load(data.operation, 0, piece.copy.data(), data.bytes);
        piece.data = piece.copy;
        f.retained += data.bytes;
    }
    queue(f, piece, false);
    pump();
    return Posted::done;
}

Posted End::send_long(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                      const Memory& data) {
    Flow& f = *flows_[peer];
    if (f.failed) return Posted::failed;
    if (f.window.size() >= wire::flow_window) return Posted::would_block;
    Piece& piece = make_first(f, envelope, payload, data.bytes);
    auto owned = std::make_unique<LongSend>();
    LongSend& message = *owned;
    message.flow = &f;
    message.sequence = piece.sequence;
    message.context = envelope.context;
    message.tag = envelope.tag;
    message.memory = data;
    message.heard_ns = world_.now_ns();
    message.granted = limits_.head;
    message.chunks = chunks_of(data.bytes);
    message.under_way.resize(message.chunks);
    f.long_sends.emplace(piece.sequence, std::move(owned));
    ++open_long_sends_;
    piece.head[offsetof(wire::MessageHead, is_long)] = std::byte{1};
    piece.message = &message;
    const uint64_t first = std::min<uint64_t>(data.bytes, wire::frame_chunk);
    if (data.at != nullptr) {
        piece.data = {data.at, first};
    } else if (first != 0) {
        piece.copy.resize(first);
        sink_.load(data.operation, 0, piece.copy.data(), first);
        piece.data = piece.copy;
    }
    message.under_way[0] = &piece;
    queue(f, piece, false);
    if (message.chunks > 1) {
        message.listed = true;
        f.sending.push_back(&message);
    }
    pump();
    return Posted::under_way;
}

void End::queue(Flow& f, Piece& piece, bool in_front) {
    piece.queued = true;
    if (in_front)
        f.ready.push_front(&piece);
    else
        f.ready.push_back(&piece);
    busy(f);
}

void End::busy(Flow& f) {
    if (f.in_busy) return;
    f.in_busy = true;
    busy_.push_back(&f);
}

// One frame of each flow in turn, as long as lanes take some.
int End::pump() {
    int happened = 0;
    size_t stuck = 0;
    while (!busy_.empty() && stuck < busy_.size()) {
        Flow& f = *busy_.front();
        busy_.pop_front();
        const bool moved = push(f);
        if (moved) {
            ++happened;
            stuck = 0;
        } else {
            ++stuck;
        }
        if (f.ready.empty() && f.sending.empty()) {
            f.in_busy = false;
            stuck = 0;
        } else {
            busy_.push_back(&f);
        }
    }
    return happened;
}

bool End::push(Flow& f) {
    while (!f.ready.empty() && f.ready.front()->acknowledged) {
        Piece& done = *f.ready.front();
        f.ready.pop_front();
        done.queued = false;
        let_go(done);
    }
    if (f.ready.empty()) return push_chunk(f);
    Piece& piece = *f.ready.front();
    const int lane = choose(f, piece.data.size());
    if (lane < 0 || !transmit(piece, lane)) return false;
    f.ready.pop_front();
    piece.queued = false;
    return true;
}

// Of the long messages of a flow in turn: some chunks of each, so that they are acknowledged together.
bool End::push_chunk(Flow& f) {
    for (size_t tries = f.sending.size(); tries != 0; --tries) {
        LongSend& m = *f.sending.front();
        f.sending.pop_front();
        const uint64_t offset = m.next * wire::frame_chunk;
        if (m.complete || m.next == m.chunks || offset >= m.granted || m.next >= m.peer_next + chunk_window) {
            m.listed = false; // take_grant() lists it again
            continue;
        }
        if (++m.turn % chunks_in_turn != 0)
            f.sending.push_front(&m);
        else
            f.sending.push_back(&m);
        const uint64_t bytes = std::min<uint64_t>(m.memory.bytes - offset, wire::frame_chunk);
        const int lane = choose(f, bytes);
        if (lane < 0) return false;
        auto* const piece = new Piece;
        piece->flow = &f;
        piece->message = &m;
        piece->type = wire::FrameType::chunk;
        piece->context = m.context;
        piece->tag = m.tag;
        piece->sequence = m.sequence;
        piece->offset = offset;
        piece->length = m.memory.bytes;
        if (m.memory.at != nullptr) {
            piece->data = {m.memory.at + offset, bytes};
        } else {
            piece->copy.resize(bytes);
            sink_.load(m.memory.operation, offset, piece->copy.data(), bytes);
            piece->data = piece->copy;
        }
        ++unacknowledged_;
        m.under_way[m.next++] = piece;
        if (!transmit(*piece, lane)) queue(f, *piece, false);
        return true;
    }
    return false;
}

// Where it is expected to be through first, among lanes that have been heard lately if there are such. Others
// are asked: without that each end would find out for itself that a gateway hangs, one after the other. A
// lane that has returned is used when the other end has had the time to find it, too.
int End::choose(Flow& f, uint64_t bytes) {
    int best = -1;
    double best_ns = 0;
    double last_ns = -1;
    const uint64_t now = f.lanes.size() > 1 ? world_.now_ns() : 0;
    const auto silent = [&](const Lane& lane) { return lane.heard_ns + limits_.beat_ns < now; };
    const auto trusted = [&](const Lane& lane) {
        return lane.up && !silent(lane) && lane.trusted_from_ns <= now;
    };
    const bool any_trusted =
        std::ranges::any_of(f.lanes, [&](int l) { return trusted(lanes_[static_cast<size_t>(l)]); });
    for (const int l : f.lanes) {
        const Lane& lane = lanes_[static_cast<size_t>(l)];
        if (lane.up && any_trusted && !trusted(lane)) {
            if (silent(lane) && lane.asked_ns == 0) static_cast<void>(ask(l, now));
            continue;
        }
        if (!lane.up || (lane.with_gateway != 0 && lane.with_gateway + bytes > limits_.lane_bytes)) continue;
        const double ns = static_cast<double>(lane.with_gateway + bytes + frame_cost) * lane.ns_per_byte;
        if (l == f.last_lane) last_ns = ns;
        if (best >= 0 && ns >= best_ns) continue;
        best = l;
        best_ns = ns;
    }
    if (bytes <= small && last_ns >= 0 && last_ns <= worse_by * best_ns) return f.last_lane;
    if (best >= 0) f.last_lane = best;
    return best;
}

bool End::transmit(Piece& piece, int lane) {
    wire::Frame frame{};
    frame.type = piece.type;
    frame.context = piece.context;
    frame.tag = piece.tag;
    frame.sequence = piece.sequence;
    frame.offset = piece.offset;
    frame.length = piece.length;
    const size_t sealed = piece.sealed.size();
    const Posted posted =
        send_frame(*piece.flow, lane, frame, {piece.head, piece.head_bytes}, piece.data, &piece);
    if (posted != Posted::under_way) drop_sealed(piece, sealed);
    if (posted == Posted::would_block || posted == Posted::failed) return false;
    if (piece.times++ != 0) ++counters_.sent_again;
    if (posted == Posted::under_way) {
        ++piece.in_network;
        if (piece.message != nullptr) ++piece.message->in_network;
    }
    put_on(lane, piece);
    return true;
}

// With what is owed to the other side.
Posted End::send_frame(Flow& f, int lane, wire::Frame frame, std::span<const std::byte> head,
                       std::span<const std::byte> data, void* ticket) {
    std::byte bytes[wire::frame_head_max + sizeof(wire::AckBitmap)];
    size_t used = sizeof frame;
    const auto add = [&](std::span<const std::byte> part) {
        if (!part.empty()) std::memcpy(bytes + used, part.data(), part.size());
        used += part.size();
    };
    const bool with_ack = f.owed_ns != 0 && ticket != nullptr;
    if (with_ack) {
        wire::AckBlock ack{f.deliver_next, 0};
        for (const auto& [sequence, early] : f.early)
            if (early.has_first && sequence > f.deliver_next && sequence - f.deliver_next <= 64)
                ack.seen |= uint64_t{1} << (sequence - f.deliver_next - 1);
        add(std::as_bytes(std::span(&ack, 1)));
        frame.flags = wire::frame_has_ack;
    }
    const size_t seal_at = used;
    if (world_.sealer != nullptr) {
        frame.flags |= wire::frame_sealed;
        used += sizeof(wire::Seal);
    }
    const size_t head_at = used;
    add(head);
    frame.job = job_;
    frame.from = own_id_;
    frame.to = f.world_rank;
    frame.hops = wire::frame_hops;
    frame.lane = static_cast<uint8_t>(lane);
    frame.bytes = static_cast<uint32_t>(used - sizeof frame + data.size());
    if (world_.sealer != nullptr) {
        wire::Seal of_frame{};
        if (!seal(f, frame, {bytes + sizeof frame, seal_at - sizeof frame}, {bytes + head_at, head.size()},
                  data, static_cast<Piece*>(ticket), of_frame))
            return Posted::failed;
        std::memcpy(bytes + seal_at, &of_frame, sizeof of_frame);
    }
    close(frame);
    std::memcpy(bytes, &frame, sizeof frame);
    const Posted posted = world_.send(world_.subject, lane, {bytes, used}, data, ticket);
    if (posted == Posted::would_block || posted == Posted::failed) return posted;
    if (with_ack) {
        f.owed_ns = f.owed_bytes = 0;
        f.owed_messages = 0;
    }
    if (ticket == nullptr) count_said(lanes_[static_cast<size_t>(lane)]);
    ++(ticket != nullptr ? counters_.frames_out : counters_.control_out);
    return posted;
}

void End::acknowledged(Piece& piece) {
    if (std::exchange(piece.acknowledged, true)) return;
    --unacknowledged_;
    notices_ -= piece.notice ? 1 : 0;
    take_off(piece);
    if (piece.message == nullptr) piece.flow->retained -= piece.data.size();
    let_go(piece);
}

void End::let_go(Piece& piece) {
    if (piece.acknowledged && piece.in_network == 0 && !piece.queued) delete &piece;
}

void End::left(void* ticket) {
    Piece& piece = *static_cast<Piece*>(ticket);
    LongSend* const message = piece.message;
    if (--piece.in_network == 0) drop_sealed(piece, 0);
    let_go(piece);
    if (message == nullptr) return;
    --message->in_network;
    if (!message->given_up) return finish_if_done(*message);
    if (message->in_network != 0) return;
    void* const operation = message->memory.operation;
    std::erase_if(message->flow->given_up, [&](const auto& m) { return m.get() == message; });
    sink_.sent(sink_.subject, operation, Outcome::failed);
}

void End::take_ack(Flow& f, uint64_t next, std::span<const uint64_t> seen) {
    const uint64_t end = f.base + f.window.size();
    if (next > end) return; // of something that was never sent
    for (uint64_t s = f.base; s < next; ++s) acknowledge_first(f, s);
    for (uint64_t i = 0; i < seen.size() * 64; ++i)
        if ((seen[i / 64] >> i % 64 & 1U) != 0) acknowledge_first(f, next + 1 + i);
    while (!f.window.empty() && f.window.front() == nullptr) {
        f.window.pop_front();
        ++f.base;
    }
}

void End::acknowledge_first(Flow& f, uint64_t sequence) {
    if (sequence < f.base || sequence - f.base >= f.window.size()) return;
    Piece* const piece = std::exchange(f.window[sequence - f.base], nullptr);
    if (piece == nullptr) return;
    LongSend* const message = piece->message;
    acknowledged(*piece);
    if (message == nullptr) return;
    message->first_acknowledged = true;
    message->under_way[0] = nullptr;
    finish_if_done(*message);
}

void End::take_grant(Flow& f, uint64_t sequence, const wire::Grant& grant) {
    const auto found = f.long_sends.find(sequence);
    if (found == f.long_sends.end()) return;
    LongSend& m = *found->second;
    m.heard_ns = world_.now_ns();
    const auto has_come = [&](uint64_t chunk) {
        if (chunk == 0 || chunk >= m.next) return;
        if (Piece* const piece = std::exchange(m.under_way[chunk], nullptr)) acknowledged(*piece);
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
        const auto still = f.long_sends.find(sequence);
        if (still != f.long_sends.end()) finish_if_done(*still->second);
        return;
    }
    if (m.next == m.chunks || m.listed) return;
    m.listed = true;
    f.sending.push_back(&m);
    busy(f);
}

void End::finish_if_done(LongSend& m) {
    if (!m.complete || !m.first_acknowledged || m.in_network != 0) return;
    Flow& f = *m.flow;
    std::erase(f.sending, &m);
    void* const operation = m.memory.operation;
    // Pieces in the queue have been acknowledged and are let go there; they know their message no more.
    for (Piece* piece : f.ready)
        if (piece->message == &m) piece->message = nullptr;
    f.long_sends.erase(m.sequence);
    --open_long_sends_;
    sink_.sent(sink_.subject, operation, Outcome::done);
}

// A grant may have been lost. One without content is a question.
void End::ask_how_far(LongSend& m) {
    wire::Frame frame{};
    frame.type = wire::FrameType::grant;
    frame.sequence = m.sequence;
    m.heard_ns = world_.now_ns();
    const int lane = control_lane(*m.flow);
    if (lane >= 0) static_cast<void>(send_frame(*m.flow, lane, frame, {}, {}, nullptr));
}

// Nothing reaches the other side any more.
void End::fail(Flow& f) {
    f.failed = true;
    const auto give_up = [&](Piece*& place) {
        Piece* const piece = std::exchange(place, nullptr);
        if (piece == nullptr) return;
        acknowledged(*piece);
    };
    auto sends = std::exchange(f.long_sends, {});
    open_long_sends_ -= sends.size();
    f.sending.clear();
    for (const auto& [sequence, m] : sends)
        for (uint64_t i = 1; i < m->chunks; ++i) give_up(m->under_way[i]);
    for (Piece*& piece : f.window) give_up(piece);
    f.base += f.window.size();
    f.window.clear();
    for (Piece* piece : f.ready)                              // acknowledged, and let go by pump()
        if (piece->in_network == 0) piece->message = nullptr; // else left() counts it
    std::vector<void*> ended;
    for (auto& [sequence, m] : sends) {
        m->given_up = true;
        if (m->in_network == 0)
            ended.push_back(m->memory.operation);
        else
            f.given_up.push_back(std::move(m)); // left() ends it
    }
    for (void* const operation : ended) sink_.sent(sink_.subject, operation, Outcome::failed);
    const auto receives = f.long_receives;
    for (const auto& [sequence, r] : receives) {
        if (!r->posted) continue;
        void* const operation = r->to.operation;
        close_receive(*r);
        sink_.received(sink_.subject, operation, Outcome::failed);
    }
    sink_.lost(sink_.subject, f.index, "no gateway leads to it any more");
}

} // namespace zipmpi::bridge
