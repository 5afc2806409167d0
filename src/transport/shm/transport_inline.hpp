// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The path of every message, inlined into the protocol. Included by transport.hpp only.
#pragma once

#include "transport/shm/transport.hpp"

namespace zipmpi::transport::shm {

inline Transport::Spot Transport::claim(Peer peer, uint32_t lines, Sent& why) {
    if (design_ == Design::shared) [[unlikely]]
        return claim_shared(peer, lines, why);
    Outgoing& o = out_[peer];
    if (o.ring == nullptr && !open(peer)) [[unlikely]] {
        why = Sent::no_memory;
        return {};
    }
    if (o.produced - o.consumed_seen + lines > wire::ring_lines) [[unlikely]] {
        // Pairs with the store in give_back(): the consumer has read a line before it counts it as consumed.
        // seq_cst because it is also the last look after arm().
        const uint32_t consumed = o.ring->consumed.load(std::memory_order_seq_cst);
        const uint32_t used = o.produced - consumed; // more than fit in if the consumer wrote nonsense
        if (used > wire::ring_lines || used + lines > wire::ring_lines) {
            mark_blocked(peer);
            why = Sent::would_block;
            return {};
        }
        o.consumed_seen = consumed;
    }
    return {o.ring->line, wire::ring_lines, o.slot, o.produced + 1, 0};
}

// Makes the lines visible; all but the mark of the first have been written.
inline void Transport::publish(Peer peer, const Spot& spot, uint32_t lines) {
    wire::RankBlock& to = segment_.block(peer);
    const uint64_t bit = uint64_t{1} << (self_ % 64);
    std::atomic<uint32_t>& mark = spot.at(0).mark;
    const uint32_t first = spot.mark(0, design_);
    if (design_ != Design::shared) [[likely]] {
        Outgoing& o = out_[peer];
        o.produced += lines;
        o.slot = o.slot + lines < wire::ring_lines ? o.slot + lines : o.slot + lines - wire::ring_lines;
        const uint32_t first_ahead = lines == 1 ? write_ahead : 1; // the next one is likely to be as long
        for (uint32_t i = 0; i < lines; ++i) {
            const uint32_t ahead = o.slot + first_ahead + i;
            os::prefetch_to_write(&spot.lines[ahead < wire::ring_lines ? ahead : ahead - wire::ring_lines]);
        }
    }
    // Store the mark, then look at what the receiver says of itself. Either we see that it does not watch
    // this ring (any more) and announce the line, or its later looks at the ring find it (consider()); either
    // we see the sleeper, or the sleeper's last look, after it counted itself in, finds line or bit (arm()).
    // For that, store and loads must stay in this order: by seq_cst, or by the barrier that the receiver
    // executes for us between its own store and look.
    if (takes_part_ && to.fences_for_all.load(std::memory_order_acquire) != 0)
        mark.store(first, std::memory_order_release);
    else
        mark.store(first, std::memory_order_seq_cst);
    if (design_ == Design::watched && (to.watched[self_ / 64].load(std::memory_order_seq_cst) & bit) == 0)
        announce(to, bit);
    if (to.sleepers.load(std::memory_order_seq_cst) != 0) [[unlikely]]
        wake(to);
}

inline Sent Transport::send_short(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                                  size_t bytes) {
    Sent why = Sent::ok;
    const Spot spot = claim(peer, 1, why);
    if (spot.lines == nullptr) [[unlikely]]
        return why;
    wire::RingLine& line = spot.at(0);
    line.envelope = envelope;
    line.envelope.inline_bytes = static_cast<uint8_t>(bytes);
    if (bytes != 0) std::memcpy(line.payload, payload, bytes);
    publish(peer, spot, 1);
    return Sent::ok;
}

template <class Sink>
int Transport::poll(Sink&& sink) {
    switch (design_) {
    case Design::watched:
        return poll_watched(sink);
    case Design::pairs: {
        const int announced = poll_bitmap(sink); // first: rings that it finds are read in full below
        return announced + poll_rings(rings_.known(), sink);
    }
    case Design::expected:
        return poll_expected(sink);
    case Design::shared:
        return poll_shared(sink);
    }
    return 0;
}

template <class Sink>
int Transport::poll_watched(Sink& sink) {
    int delivered = 0;
    block_->counters.add_locked(Counter::ring_looks, watching_);
    for (uint32_t i = 0; i < watching_; ++i)
        if (line_waits(watch_[i].peer)) {
            const int lines = drain(watch_[i].peer, sink);
            watch_[i].hits += static_cast<uint32_t>(lines);
            delivered += lines;
        }
    delivered += poll_bitmap(sink);
    if (!leaving_.empty()) [[unlikely]]
        delivered += poll_leaving(sink);
    return delivered;
}

template <class Sink>
int Transport::poll_bitmap(Sink& sink) {
    int delivered = 0;
    for (uint32_t w = 0; w < arrival_words_; ++w) {
        // seq_cst: this is also the last look after arm() has counted the sleeper in (a plain load on x86).
        if (block_->arrivals[w].load(std::memory_order_seq_cst) == 0) continue;
        // Pairs with the sender's fetch_or in announce(): lines stored before it are visible after this.
        uint64_t bits = block_->arrivals[w].exchange(0, std::memory_order_acq_rel);
        while (bits != 0) {
            const auto from = static_cast<Peer>(w * 64 + static_cast<uint32_t>(std::countr_zero(bits)));
            bits &= bits - 1;
            if (from >= in_.size()) continue;
            block_->counters.add_locked(Counter::ring_looks);
            if (design_ != Design::watched) rings_.get_to_know(from);
            if (!leaving_.empty()) std::erase(leaving_, from); // it has seen that it is no longer watched
            delivered += drain(from, sink);
            if (design_ == Design::watched && !in_[from].watched && ++in_[from].by_bitmap >= watch_after_)
                consider(from);
        }
    }
    return delivered;
}

template <class Sink>
int Transport::poll_leaving(Sink& sink) {
    int delivered = 0;
    std::vector<Peer> leaving;
    leaving.swap(leaving_);
    const bool settled = leaving_settled_;
    leaving_settled_ = false;
    block_->counters.add_locked(Counter::ring_looks, leaving.size());
    for (const Peer peer : leaving) {
        if (!settled) leaving_.push_back(peer);
        if (line_waits(peer)) delivered += drain(peer, sink);
    }
    return delivered;
}

template <class Sink>
int Transport::poll_expected(Sink& sink) {
    reading_ = true;
    const int announced = poll_bitmap(sink);
    const int expected = poll_rings(rings_.expected(), sink);
    reading_ = false;
    return announced + expected;
}

template <class Sink>
void Transport::read_all(Sink&& sink) {
    if (design_ != Design::expected) return;
    for (const Peer peer : rings_.known()) look_at(peer);
    if (!reading_) poll_expected(sink);
}

// What is delivered may change the list: a ring may move to the place of one that is no longer expected, and
// is then looked at in the next round. That is soon, because something came. If nothing comes, all are.
template <class Sink>
int Transport::poll_rings(const std::vector<Peer>& rings, Sink& sink) {
    int delivered = 0;
    size_t i = 0;
    size_t looks = 0;
    for (const size_t most = rings.size(); looks < most && i < rings.size(); ++looks) {
        const Peer peer = rings[i];
        if (line_waits(peer)) delivered += drain(peer, sink);
        if (i < rings.size() && rings[i] == peer) ++i;
    }
    block_->counters.add_locked(Counter::ring_looks, looks);
    return delivered;
}

// Gives one message to the sink. Returns how many lines it has.
template <class Sink>
uint32_t Transport::deliver(Peer from, const Spot& spot, Sink& sink) {
    // A private copy of what is checked, so that the same is used even if the sender misbehaves.
    const wire::RingLine& line = spot.at(0);
    const wire::Envelope envelope = line.envelope;
    if ((envelope.flags & wire::flag_lines) != 0) {
        const uint32_t more = envelope.more_lines;
        const size_t last = envelope.inline_bytes;
        if (more == 0 || more > wire::max_more_lines || last == 0 || last > wire::continuation_bytes)
            return 1;
        std::byte message[wire::lines_max];
        std::memcpy(message, line.payload, wire::inline_max);
        size_t at = wire::inline_max;
        for (uint32_t i = 1; i <= more; ++i, at += wire::continuation_bytes)
            std::memcpy(message + at, reinterpret_cast<const wire::Continuation&>(spot.at(i)).bytes,
                        wire::continuation_bytes);
        sink(Arrival{from, envelope, line.payload, message, at - wire::continuation_bytes + last});
        return 1 + more;
    }
    if ((envelope.flags & wire::flag_cell) == 0) {
        if (envelope.inline_bytes <= wire::inline_max) [[likely]]
            sink(Arrival{from, envelope, line.payload, nullptr, 0});
        return 1;
    }
    wire::CellRef cell{};
    std::memcpy(&cell, line.payload + wire::inline_max_with_cell, sizeof cell);
    if (!makes_sense(envelope, cell)) [[unlikely]]
        return 1;
    sink(Arrival{from, envelope, line.payload, segment_.cell(from, cell.cell) + wire::line_size, cell.bytes});
    release_cell(from, cell);
    return 1;
}

template <class Sink>
int Transport::drain(Peer from, Sink& sink) {
    Incoming& in = in_[from];
    wire::Ring& ring = *in.ring;
    if (out_[from].ring == nullptr) attach(from); // see open()
    int delivered = 0;
    // At most one lap: a fast sender must not keep us here for ever.
    for (; delivered < static_cast<int>(wire::ring_lines); ++delivered) {
        const Spot spot{ring.line, wire::ring_lines, in.slot, 0, 0};
        // Pairs with the store of mark in publish().
        if (spot.at(0).mark.load(std::memory_order_acquire) != in.taken + 1) break;
        // In a stream the lines after this one are likely to be there; elsewhere looking ahead would disturb.
        __builtin_prefetch(&spot.at(delivered < 2 ? 1 : read_ahead));
        const uint32_t lines = deliver(from, spot, sink);
        in.taken += lines;
        in.slot = in.slot + lines < wire::ring_lines ? in.slot + lines : in.slot + lines - wire::ring_lines;
        if (in.taken - in.given_back >= give_back_lines) give_back(from, in);
    }
    if (delivered == static_cast<int>(wire::ring_lines)) look_at(from); // there may be more: come back
    return delivered;
}

template <class Sink>
int Transport::poll_shared(Sink& sink) {
    auto& ring = reinterpret_cast<wire::SharedRing&>(segment_.ring(self_, 0));
    const uint32_t capacity = wire::shared_ring_lines(segment_.local_ranks());
    constexpr uint32_t number_mask = (1U << wire::shared_mark_bits) - 1;
    int delivered = 0;
    block_->counters.add_locked(Counter::ring_looks);
    for (; delivered < static_cast<int>(capacity); ++delivered) {
        const Spot spot{ring.line, capacity, shared_taken_ % capacity, 0, 0};
        // seq_cst: also the last look after arm(). Pairs with the store of mark in publish().
        const uint32_t mark = spot.at(0).mark.load(std::memory_order_seq_cst);
        const uint32_t from = mark >> wire::shared_mark_bits;
        if ((mark & number_mask) != ((shared_taken_ + 1) & number_mask) || from >= in_.size()) break;
        shared_taken_ += deliver(from, spot, sink);
        if (shared_taken_ - shared_given_back_ >= give_back_lines) give_back_shared(ring);
    }
    return delivered;
}

} // namespace zipmpi::transport::shm
