// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The rings from this rank to its peers, from the producer's side, and the inlined path of a short message.
#pragma once

#include "base/short_copy.hpp"
#include "os/clock.hpp"
#include "os/lazy_table.hpp"
#include "transport/shm/slot_span.hpp"
#include "transport/shm/wakeup_port.hpp"

#include <vector>

namespace zipmpi::transport::shm {

class SendRings {
  public:
    SendRings(const LocalRank& own, WakeupPort& wakeups);

    SendStatus send_inline(Peer peer, const wire::Envelope& envelope, const std::byte* payload, size_t bytes);
    // As send_inline() in poll mode hybrid if the ring is open and its slot known to be free, with fewer
    // instructions. Returns false without side effects otherwise.
    [[gnu::always_inline]] bool try_send_inline(Peer peer, const wire::Envelope& envelope,
                                                const std::byte* payload, size_t bytes);
    // As try_send_inline(), for a message of at most wire::multislot_max bytes that needs several slots.
    bool try_send_multislot(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                            size_t bytes);
    // Sends a medium-sized message in consecutive slots; this saves acquiring and releasing a cell.
    SendStatus send_multislot(Peer peer, const wire::Envelope& envelope, const BulkSource& bulk);
    // Space for a message of this number of slots. On failure `slots` is null, with the reason in why.
    SlotSpan claim(Peer peer, uint32_t lines, SendStatus& why);
    // Publishes the slots; everything except the sequence number of the first one has been written.
    void publish(Peer peer, const SlotSpan& span, uint32_t lines);

    [[nodiscard]] bool is_connected(Peer peer) const { return out_[peer].ring != nullptr; }
    // The ring to this peer exists. A receiver that polls rings without a bitmap must register it.
    [[gnu::cold]] void attach(Peer peer);
    // Poll mode expected: makes the peer read its ring even if it expects nothing.
    void notify_receiver(Peer peer) {
        if (own_.mode != PollMode::expected) return;
        own_.set_arrival_bit(own_.segment.block(peer));
        wakeups_.wake_if_asleep(own_.segment.block(peer));
    }
    [[nodiscard]] bool has_blocked() const { return !blocked_.empty(); }
    // Before a sleep: makes the readers of full rings send a wakeup.
    void request_space();

  private:
    struct ProducerRing {
        wire::Ring* ring = nullptr;
        wire::RankBlock* receiver = nullptr; // set with ring
        uint32_t produced = 0;               // slots written so far
        uint32_t consumed_seen = 0;          // the consumer's count when last read
        uint32_t slot = 0;
        // Poll mode expected: value of produced at the last notify_receiver() for a full ring.
        uint32_t notified_at = 0;
        bool blocked = false; // in blocked_
    };
    // A sender prefetches the slot this far ahead of the next one, so that a stream of messages does not wait
    // for each slot. Not closer: the receiver polls the next slot and would fetch it back.
    static constexpr uint32_t write_ahead = 4;

    SlotSpan claim_mpsc(Peer peer, uint32_t lines, SendStatus& why);
    [[gnu::always_inline]] void store_seq(std::atomic<uint32_t>& seq, uint32_t value,
                                          wire::RankBlock& receiver);
    void write_slots(const SlotSpan& span, uint32_t lines, const wire::Envelope& envelope,
                     const std::byte* bytes, size_t n) const;
    [[gnu::cold]] bool open(Peer peer);
    [[gnu::cold]] void mark_blocked(Peer peer);
    void set_ring(Peer peer, uint32_t from);

    LocalRank own_;
    os::LazyTable<ProducerRing> out_;
    WakeupPort& wakeups_;
    std::vector<Peer> blocked_; // peers whose ring was full when last tried
};

inline SlotSpan SendRings::claim(Peer peer, uint32_t lines, SendStatus& why) {
    if (own_.mode == PollMode::mpsc) [[unlikely]]
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

inline void SendRings::publish(Peer peer, const SlotSpan& span, uint32_t lines) {
    wire::RankBlock& to = *out_[peer].receiver;
    std::atomic<uint32_t>& seq = span.first().seq;
    const uint32_t first = span.seq_of(0, own_.mode);
    if (own_.mode != PollMode::mpsc) [[likely]] {
        ProducerRing& o = out_[peer];
        o.produced += lines;
        o.slot = advance_slot(o.slot, lines);
        // The next message probably has the same length.
        const uint32_t first_ahead = lines == 1 ? write_ahead : 1;
        for (uint32_t i = 0; i < lines; ++i)
            os::prefetch_for_write(&span.slots[advance_slot(o.slot, first_ahead + i)]);
    }
    store_seq(seq, first, to);
}

// Store the sequence number, then load the receiver's state. Either we see that the receiver does not poll
// this ring and set its arrival bit, or its later poll of the ring finds the slot
// (ReceiveRings::poll_directly()). Either we see the sleeper, or the sleeper's final check, after it has
// counted itself in, finds the slot or the bit (arm()). This requires store and loads in this order: by
// seq_cst, or by the barrier that the receiver executes for all processes between its own store and check.
inline void SendRings::store_seq(std::atomic<uint32_t>& seq, uint32_t value, wire::RankBlock& receiver) {
    if (own_.peer_executes_barrier(receiver)) [[likely]]
        seq.store(value, std::memory_order_release);
    else
        seq.store(value, std::memory_order_seq_cst);
    const uint64_t bit = uint64_t{1} << (own_.index % 64);
    if (own_.mode == PollMode::hybrid &&
        (receiver.polled_bitmap[own_.index / 64].load(std::memory_order_seq_cst) & bit) == 0) [[unlikely]]
        own_.set_arrival_bit(receiver);
    if (receiver.sleepers.load(std::memory_order_seq_cst) != 0) [[unlikely]]
        wakeups_.wake(receiver);
}

inline bool SendRings::try_send_inline(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                                       size_t bytes) {
    ProducerRing& o = out_[peer];
    if (own_.mode != PollMode::hybrid || o.ring == nullptr ||
        o.produced - o.consumed_seen >= wire::ring_slots) [[unlikely]]
        return false;
    wire::RingSlot& slot = o.ring->slot[o.slot];
    slot.envelope = envelope;
    slot.envelope.inline_bytes = static_cast<uint8_t>(bytes);
    copy_short(slot.payload, payload, bytes);
    ++o.produced;
    o.slot = advance_slot(o.slot, 1);
    os::prefetch_for_write(&o.ring->slot[advance_slot(o.slot, write_ahead)]);
    store_seq(slot.seq, o.produced, *o.receiver);
    return true;
}

inline SendStatus SendRings::send_inline(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                                         size_t bytes) {
    SendStatus why = SendStatus::ok;
    const SlotSpan span = claim(peer, 1, why);
    if (span.slots == nullptr) [[unlikely]]
        return why;
    wire::RingSlot& slot = span.first();
    slot.envelope = envelope;
    slot.envelope.inline_bytes = static_cast<uint8_t>(bytes);
    copy_short(slot.payload, payload, bytes);
    publish(peer, span, 1);
    return SendStatus::ok;
}

} // namespace zipmpi::transport::shm
