// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/send_rings.hpp"

#include <algorithm>

namespace zipmpi::transport::shm {
namespace {

// Of a message of more than wire::inline_max bytes.
uint32_t slots_for(uint64_t bytes) {
    return static_cast<uint32_t>(1 + (bytes + wire::slot_continuation_bytes - 1 - wire::inline_max) /
                                         wire::slot_continuation_bytes);
}

} // namespace

SendRings::SendRings(const LocalRank& own, WakeupPort& wakeups)
    : own_(own)
    , out_(own.segment.local_ranks())
    , wakeups_(wakeups) {
    if (own_.mode == PollMode::mpsc) set_ring(own_.index, 0); // reserved
}

// Opens both directions: a peer that receives a message can always reply (attach()).
bool SendRings::open(Peer peer) {
    const segment::NodeSegment& segment = own_.segment;
    if (own_.mode == PollMode::mpsc) {
        if (!reserve_mpsc_ring(segment, peer) || !reserve_mpsc_ring(segment, own_.index)) return false;
        set_ring(peer, 0);
        return true;
    }
    const wire::Geometry& g = segment.geometry();
    if (!segment.reserve(g.ring_offset(peer, own_.index), sizeof(wire::Ring)) ||
        !segment.reserve(g.ring_offset(own_.index, peer), sizeof(wire::Ring)))
        return false;
    attach(peer);
    return true;
}

void SendRings::attach(Peer peer) {
    set_ring(peer, own_.index);
    if (own_.mode != PollMode::hybrid) own_.set_arrival_bit(own_.segment.block(peer));
}

void SendRings::set_ring(Peer peer, uint32_t from) {
    out_[peer].ring = &own_.segment.ring(peer, from);
    out_[peer].receiver = &own_.segment.block(peer);
}

void SendRings::mark_blocked(Peer peer) {
    own_.block.counters.add(Counter::ring_full);
    if (own_.mode == PollMode::expected && out_[peer].notified_at != out_[peer].produced) {
        // Reading all slots frees space: no second notification needed.
        out_[peer].notified_at = out_[peer].produced;
        notify_receiver(peer);
    }
    if (out_[peer].blocked) return;
    out_[peer].blocked = true;
    blocked_.push_back(peer);
}

void SendRings::request_space() {
    for (const Peer peer : blocked_) {
        out_[peer].blocked = false; // set again if it is still full
        if (own_.mode == PollMode::mpsc) {
            own_.set_arrival_bit(own_.segment.block(peer));
            reinterpret_cast<wire::MpscRing*>(out_[peer].ring)
                ->producers_wait.store(1, std::memory_order_seq_cst);
        } else {
            out_[peer].ring->producer_waits.store(1, std::memory_order_seq_cst);
        }
    }
    blocked_.clear();
}

SlotSpan SendRings::claim_mpsc(Peer peer, uint32_t lines, SendStatus& why) {
    if (out_[peer].ring == nullptr && !open(peer)) {
        why = SendStatus::no_memory;
        return {};
    }
    auto& ring = reinterpret_cast<wire::MpscRing&>(*out_[peer].ring);
    const uint32_t capacity = wire::mpsc_ring_slots(own_.segment.local_ranks());
    uint32_t tail = ring.tail.load(std::memory_order_relaxed);
    do {
        // Pairs with the store in MpscReceiver::publish_consumed(); seq_cst because it is also the final
        // check after arm().
        const uint32_t used = tail - ring.consumed.load(std::memory_order_seq_cst);
        if (used + lines > capacity) {
            mark_blocked(peer);
            why = SendStatus::would_block;
            return {};
        }
    } while (!ring.tail.compare_exchange_weak(tail, tail + lines, std::memory_order_relaxed));
    return {ring.slot, capacity, tail % capacity, tail + 1, own_.index};
}

bool SendRings::try_send_multislot(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                                   size_t bytes) {
    const ProducerRing& o = out_[peer];
    const uint32_t lines = slots_for(bytes);
    if (own_.mode != PollMode::hybrid || o.ring == nullptr ||
        o.produced - o.consumed_seen + lines > wire::ring_slots) [[unlikely]]
        return false;
    const SlotSpan span{o.ring->slot, wire::ring_slots, o.slot, o.produced + 1, 0};
    write_slots(span, lines, envelope, payload, bytes);
    publish(peer, span, lines);
    return true;
}

SendStatus SendRings::send_multislot(Peer peer, const wire::Envelope& envelope, const BulkSource& bulk) {
    SendStatus why = SendStatus::ok;
    const uint32_t lines = slots_for(bulk.bytes);
    const SlotSpan span = claim(peer, lines, why);
    if (span.slots == nullptr) return why;
    std::byte written[wire::multislot_max];
    if (bulk.write != nullptr) bulk.copy_to(written);
    write_slots(span, lines, envelope, bulk.write != nullptr ? written : bulk.at, bulk.bytes);
    publish(peer, span, lines);
    return SendStatus::ok;
}

void SendRings::write_slots(const SlotSpan& span, uint32_t lines, const wire::Envelope& envelope,
                            const std::byte* bytes, size_t n) const {
    wire::RingSlot& first = span.first();
    size_t at = wire::inline_max;
    for (uint32_t i = 1; i < lines; ++i, at += wire::slot_continuation_bytes) {
        auto& next = reinterpret_cast<wire::RingSlotTail&>(span.at(i));
        next.seq.store(span.seq_of(i, own_.mode), std::memory_order_relaxed);
        // A copy of constant length takes a few instructions, one of variable length a call or a loop.
        if (i + 1 < lines)
            std::memcpy(next.bytes, bytes + at, wire::slot_continuation_bytes);
        else
            copy_short(next.bytes, bytes + at, n - at);
    }
    std::memcpy(first.payload, bytes, wire::inline_max);
    first.envelope = envelope;
    first.envelope.flags |= wire::flag_multislot;
    first.envelope.inline_bytes = static_cast<uint8_t>(n + wire::slot_continuation_bytes - at);
    first.envelope.extra_slots = static_cast<uint8_t>(lines - 1);
}

} // namespace zipmpi::transport::shm
