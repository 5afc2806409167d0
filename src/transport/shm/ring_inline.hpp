// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The inlined message path of ShmTransport. Included only by shm_transport.hpp.
#pragma once

#include "transport/shm/shm_transport.hpp"

namespace zipmpi::transport::shm {

inline ShmTransport::SlotSpan ShmTransport::claim(Peer peer, uint32_t lines, SendStatus& why) {
    if (mode_ == PollMode::mpsc) [[unlikely]]
        return claim_mpsc(peer, lines, why);
    ProducerRing& o = out_[peer];
    if (o.ring == nullptr && !open(peer)) [[unlikely]] {
        why = SendStatus::no_memory;
        return {};
    }
    if (o.produced - o.consumed_seen + lines > wire::ring_slots) [[unlikely]] {
        // Pairs with the store in publish_consumed(): the consumer reads a slot before it counts it. seq_cst
        // because it is also the final check after arm().
        const uint32_t consumed = o.ring->consumed.load(std::memory_order_seq_cst);
        // Exceeds the capacity if the consumer wrote an invalid count.
        const uint32_t used = o.produced - consumed;
        if (used > wire::ring_slots || used + lines > wire::ring_slots) {
            mark_blocked(peer);
            why = SendStatus::would_block;
            return {};
        }
        o.consumed_seen = consumed;
    }
    return {o.ring->slot, wire::ring_slots, o.slot, o.produced + 1, 0};
}

// Publishes the slots; everything except the sequence number of the first one has been written.
inline void ShmTransport::publish(Peer peer, const SlotSpan& span, uint32_t lines) {
    wire::RankBlock& to = segment_.block(peer);
    const uint64_t bit = uint64_t{1} << (self_ % 64);
    std::atomic<uint32_t>& seq = span.at(0).seq;
    const uint32_t first = span.seq_of(0, mode_);
    if (mode_ != PollMode::mpsc) [[likely]] {
        ProducerRing& o = out_[peer];
        o.produced += lines;
        o.slot = o.slot + lines < wire::ring_slots ? o.slot + lines : o.slot + lines - wire::ring_slots;
        // The next message probably has the same length.
        const uint32_t first_ahead = lines == 1 ? write_ahead : 1;
        for (uint32_t i = 0; i < lines; ++i) {
            const uint32_t ahead = o.slot + first_ahead + i;
            os::prefetch_for_write(&span.slots[ahead < wire::ring_slots ? ahead : ahead - wire::ring_slots]);
        }
    }
    // Store the sequence number, then load the receiver's state. Either we see that the receiver does not
    // poll this ring and set its arrival bit, or its later poll of the ring finds the slot
    // (maybe_poll_directly()). Either we see the sleeper, or the sleeper's final check, after it has counted
    // itself in, finds the slot or the bit (arm()). This requires store and loads in this order: by seq_cst,
    // or by the barrier that the receiver executes for all processes between its own store and check.
    if (uses_membarrier_ && to.uses_membarrier.load(std::memory_order_acquire) != 0)
        seq.store(first, std::memory_order_release);
    else
        seq.store(first, std::memory_order_seq_cst);
    if (mode_ == PollMode::hybrid &&
        (to.polled_bitmap[self_ / 64].load(std::memory_order_seq_cst) & bit) == 0)
        set_arrival_bit(to, bit);
    if (to.sleepers.load(std::memory_order_seq_cst) != 0) [[unlikely]]
        wake(to);
}

inline SendStatus ShmTransport::send_inline(Peer peer, const wire::Envelope& envelope,
                                            const std::byte* payload, size_t bytes) {
    SendStatus why = SendStatus::ok;
    const SlotSpan span = claim(peer, 1, why);
    if (span.slots == nullptr) [[unlikely]]
        return why;
    wire::RingSlot& slot = span.at(0);
    slot.envelope = envelope;
    slot.envelope.inline_bytes = static_cast<uint8_t>(bytes);
    if (bytes != 0) std::memcpy(slot.payload, payload, bytes);
    publish(peer, span, 1);
    return SendStatus::ok;
}

template <class Sink>
int ShmTransport::poll(Sink&& sink) {
    switch (mode_) {
    case PollMode::hybrid:
        return poll_hybrid(sink);
    case PollMode::all_rings: {
        const int from_bitmap = poll_bitmap(sink); // first: rings found here are drained below
        return from_bitmap + poll_rings(rings_.registered(), sink);
    }
    case PollMode::expected:
        return poll_expected(sink);
    case PollMode::mpsc:
        return poll_mpsc(sink);
    }
    return 0;
}

template <class Sink>
int ShmTransport::poll_hybrid(Sink& sink) {
    int delivered = 0;
    block_->counters.add_owner(Counter::ring_polls, polled_count_);
    for (uint32_t i = 0; i < polled_count_; ++i)
        if (slot_ready(polled_[i].peer)) {
            const int lines = drain(polled_[i].peer, sink);
            polled_[i].hits += static_cast<uint32_t>(lines);
            delivered += lines;
        }
    delivered += poll_bitmap(sink);
    if (!draining_.empty()) [[unlikely]]
        delivered += poll_draining(sink);
    return delivered;
}

template <class Sink>
int ShmTransport::poll_bitmap(Sink& sink) {
    int delivered = 0;
    for (uint32_t w = 0; w < arrival_words_; ++w) {
        // seq_cst: also the final check after arm() (a plain load on x86).
        if (block_->arrival_bitmap[w].load(std::memory_order_seq_cst) == 0) continue;
        // Pairs with the sender's fetch_or in set_arrival_bit(): slots stored before it are visible after
        // this.
        uint64_t bits = block_->arrival_bitmap[w].exchange(0, std::memory_order_acq_rel);
        while (bits != 0) {
            const auto from = static_cast<Peer>(w * 64 + static_cast<uint32_t>(std::countr_zero(bits)));
            bits &= bits - 1;
            if (from >= in_.size()) continue;
            block_->counters.add_owner(Counter::ring_polls);
            if (mode_ != PollMode::hybrid) rings_.register_sender(from);
            if (!draining_.empty())
                std::erase(draining_, from); // the sender has seen that it is no longer polled directly
            delivered += drain(from, sink);
            if (mode_ == PollMode::hybrid && !in_[from].polled && ++in_[from].bitmap_arrivals >= poll_after_)
                maybe_poll_directly(from);
        }
    }
    return delivered;
}

template <class Sink>
int ShmTransport::poll_draining(Sink& sink) {
    int delivered = 0;
    std::vector<Peer> draining;
    draining.swap(draining_);
    const bool complete = last_drain_poll_;
    last_drain_poll_ = false;
    block_->counters.add_owner(Counter::ring_polls, draining.size());
    for (const Peer peer : draining) {
        if (!complete) draining_.push_back(peer);
        if (slot_ready(peer)) delivered += drain(peer, sink);
    }
    return delivered;
}

template <class Sink>
int ShmTransport::poll_expected(Sink& sink) {
    polling_ = true;
    const int from_bitmap = poll_bitmap(sink);
    const int expected = poll_rings(rings_.expected(), sink);
    polling_ = false;
    return from_bitmap + expected;
}

template <class Sink>
void ShmTransport::poll_all(Sink&& sink) {
    if (mode_ != PollMode::expected) return;
    for (const Peer peer : rings_.registered()) force_poll(peer);
    if (!polling_) poll_expected(sink);
}

// Delivery may change the list: a ring may move to the index of one that is no longer expected, and is then
// polled in the next round. That round follows soon because something was delivered. If nothing is delivered,
// the list does not change and all rings are polled, as the final check before a sleep requires.
template <class Sink>
int ShmTransport::poll_rings(const std::vector<Peer>& rings, Sink& sink) {
    int delivered = 0;
    size_t i = 0;
    size_t polls = 0;
    for (const size_t most = rings.size(); polls < most && i < rings.size(); ++polls) {
        const Peer peer = rings[i];
        if (slot_ready(peer)) delivered += drain(peer, sink);
        if (i < rings.size() && rings[i] == peer) ++i;
    }
    block_->counters.add_owner(Counter::ring_polls, polls);
    return delivered;
}

// Delivers one message to the sink. Returns the number of its slots.
template <class Sink>
uint32_t ShmTransport::deliver(Peer from, const SlotSpan& span, Sink& sink) {
    // Private copy: check and use must see the same values even if the sender misbehaves.
    const wire::RingSlot& slot = span.at(0);
    const wire::Envelope envelope = slot.envelope;
    if ((envelope.flags & wire::flag_multislot) != 0) {
        const uint32_t more = envelope.extra_slots;
        const size_t last = envelope.inline_bytes;
        if (more == 0 || more > wire::max_extra_slots || last == 0 || last > wire::slot_continuation_bytes)
            return 1;
        std::byte message[wire::multislot_max];
        std::memcpy(message, slot.payload, wire::inline_max);
        size_t at = wire::inline_max;
        for (uint32_t i = 1; i <= more; ++i, at += wire::slot_continuation_bytes)
            std::memcpy(message + at, reinterpret_cast<const wire::RingSlotTail&>(span.at(i)).bytes,
                        wire::slot_continuation_bytes);
        sink(Arrival{from, envelope, slot.payload, message, at - wire::slot_continuation_bytes + last});
        return 1 + more;
    }
    if ((envelope.flags & wire::flag_cell) == 0) {
        if (envelope.inline_bytes <= wire::inline_max) [[likely]]
            sink(Arrival{from, envelope, slot.payload, nullptr, 0});
        return 1;
    }
    wire::CellRef cell{};
    std::memcpy(&cell, slot.payload + wire::inline_max_with_cell, sizeof cell);
    if (!is_valid(envelope, cell)) [[unlikely]]
        return 1;
    sink(
        Arrival{from, envelope, slot.payload, segment_.cell(from, cell.cell) + wire::cache_line, cell.bytes});
    release_cell(from, cell);
    return 1;
}

template <class Sink>
int ShmTransport::drain(Peer from, Sink& sink) {
    ConsumerRing& in = in_[from];
    wire::Ring& ring = *in.ring;
    if (out_[from].ring == nullptr) attach(from); // see open()
    int delivered = 0;
    // At most one lap, so that a fast sender cannot keep the receiver in this loop.
    for (; delivered < static_cast<int>(wire::ring_slots); ++delivered) {
        const SlotSpan span{ring.slot, wire::ring_slots, in.slot, 0, 0};
        // Pairs with the store of seq in publish().
        if (span.at(0).seq.load(std::memory_order_acquire) != in.consumed + 1) break;
        // In a stream the following slots are probably present; otherwise reading ahead would disturb the
        // sender.
        __builtin_prefetch(&span.at(delivered < 2 ? 1 : read_ahead));
        const uint32_t lines = deliver(from, span, sink);
        in.consumed += lines;
        in.slot = in.slot + lines < wire::ring_slots ? in.slot + lines : in.slot + lines - wire::ring_slots;
        if (in.consumed - in.published >= publish_interval) publish_consumed(from, in);
    }
    if (delivered == static_cast<int>(wire::ring_slots)) force_poll(from); // more may be present: poll again
    return delivered;
}

template <class Sink>
int ShmTransport::poll_mpsc(Sink& sink) {
    auto& ring = reinterpret_cast<wire::MpscRing&>(segment_.ring(self_, 0));
    const uint32_t capacity = wire::mpsc_ring_slots(segment_.local_ranks());
    constexpr uint32_t seq_mask = (1U << wire::mpsc_seq_bits) - 1;
    int delivered = 0;
    block_->counters.add_owner(Counter::ring_polls);
    for (; delivered < static_cast<int>(capacity); ++delivered) {
        const SlotSpan span{ring.slot, capacity, mpsc_consumed_ % capacity, 0, 0};
        // seq_cst: also the final check after arm(). Pairs with the store of seq in publish().
        const uint32_t seq = span.at(0).seq.load(std::memory_order_seq_cst);
        const uint32_t from = seq >> wire::mpsc_seq_bits;
        if ((seq & seq_mask) != ((mpsc_consumed_ + 1) & seq_mask) || from >= in_.size()) break;
        mpsc_consumed_ += deliver(from, span, sink);
        if (mpsc_consumed_ - mpsc_published_ >= publish_interval) publish_consumed_mpsc(ring);
    }
    return delivered;
}

} // namespace zipmpi::transport::shm
