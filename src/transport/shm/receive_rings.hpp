// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The rings from the peers to this rank, from the consumer's side: which are polled (PollMode), and the
// inlined path of an arriving message.
#pragma once

#include "transport/shm/expected_rings.hpp"
#include "transport/shm/mpsc_receiver.hpp"
#include "transport/shm/polled_senders.hpp"
#include "transport/shm/send_rings.hpp"
#include "transport/shm/slot_reader.hpp"

#include <bit>
#include <vector>

namespace zipmpi::transport::shm {

class ReceiveRings {
  public:
    ReceiveRings(const LocalRank& own, SendRings& replies, WakeupPort& wakeups);

    template <class Sink>
    int poll(Sink& sink);
    // If the ring of this peer is polled directly: offers up to `most` messages that have arrived and are
    // inline in one slot to take(envelope, payload), and consumes them until it returns false. Returns their
    // number.
    template <class Take>
    [[gnu::always_inline]] uint32_t take_inline(Peer from, uint32_t most, const Take& take);
    // Poll mode expected: reads all rings. Within poll() this is left to the next poll().
    template <class Sink>
    void poll_all(Sink& sink);
    // The next poll() reads what this peer has sent, whatever is expected.
    void force_poll(Peer peer) {
        if (!replies_.is_connected(peer)) return; // not connected, or its first message sets the bit
        set_own_arrival_bit(peer);
    }
    // While a slot of this peer is delivered: whether the next one is present.
    [[nodiscard]] bool next_slot_ready(Peer from) const {
        if (own_.mode == PollMode::mpsc) return false;
        const ConsumerRing& in = in_[from];
        const SlotSpan next{in.ring->slot, wire::ring_slots, in.slot, 0, 0};
        return next.at(1).seq.load(std::memory_order_relaxed) == in.consumed + 2;
    }
    void expect(int peer, int change);
    // All senders have seen which rings are polled (barrier executed): the next poll of formerly polled
    // senders is the last.
    void end_draining() { last_drain_poll_ = true; }

  private:
    struct ConsumerRing {
        wire::Ring* ring = nullptr; // set with `connected`
        uint32_t consumed = 0;
        uint32_t published = 0; // count last published to the producer
        uint32_t slot = 0;
        // Arrivals by bitmap since the ring was last considered for direct polling.
        uint32_t bitmap_arrivals = 0;
        bool polled = false;    // in polled_
        bool connected = false; // a message has arrived, and replies are possible
    };
    static constexpr uint32_t read_ahead = 3;

    [[nodiscard]] bool slot_ready(Peer from) const {
        const ConsumerRing& in = in_[from];
        // seq_cst: also the final check after arm(), and after direct polling of the ring has ended.
        return in.ring->slot[in.slot].seq.load(std::memory_order_seq_cst) == in.consumed + 1;
    }
    void set_own_arrival_bit(Peer from) {
        own_.block.arrival_bitmap[from / 64].fetch_or(uint64_t{1} << (from % 64), std::memory_order_relaxed);
    }
    void publish_consumed(Peer from, ConsumerRing& in);
    // As publish_consumed(), and counts the messages of take_inline() as hits of the ring.
    void publish_taken(Peer from, ConsumerRing& in);
    [[gnu::cold]] void connect(Peer from);
    [[gnu::cold]] void poll_directly(Peer from);
    void drain_evicted(Peer evicted);
    template <class Sink>
    int poll_hybrid(Sink& sink);
    template <class Sink>
    int poll_bitmap(Sink& sink);
    template <class Sink>
    int poll_draining(Sink& sink);
    template <class Sink>
    int poll_expected(Sink& sink);
    template <class Sink>
    int poll_rings(const std::vector<Peer>& rings, Sink& sink);
    template <class Sink>
    int drain(Peer from, Sink& sink);

    LocalRank own_;
    uint32_t arrival_words_;
    bool last_drain_poll_ = false;
    bool polling_ = false; // poll mode expected: within poll()
    os::LazyTable<ConsumerRing> in_;
    PolledSenders polled_;
    // Formerly polled directly: a slot may arrive without an arrival bit until the sender has seen the
    // change, which its next arrival bit proves or a barrier enforces.
    std::vector<Peer> draining_;
    SlotReader reader_;
    SendRings& replies_;
    WakeupPort& wakeups_;
    ExpectedRings rings_; // poll modes all_rings and expected
    MpscReceiver mpsc_;
};

template <class Sink>
int ReceiveRings::poll(Sink& sink) {
    switch (own_.mode) {
    case PollMode::hybrid:
        return poll_hybrid(sink);
    case PollMode::all_rings: {
        const int from_bitmap = poll_bitmap(sink); // first: rings found here are drained below
        return from_bitmap + poll_rings(rings_.registered(), sink);
    }
    case PollMode::expected:
        return poll_expected(sink);
    case PollMode::mpsc:
        return mpsc_.poll(reader_, sink);
    }
    return 0;
}

template <class Sink>
int ReceiveRings::poll_hybrid(Sink& sink) {
    int delivered = 0;
    own_.block.counters.add_owner(Counter::ring_polls, polled_.count());
    for (uint32_t i = 0; i < polled_.count(); ++i)
        if (slot_ready(polled_.peer(i))) {
            const int messages = drain(polled_.peer(i), sink);
            polled_.add_hits(i, messages);
            delivered += messages;
        }
    delivered += poll_bitmap(sink);
    if (!draining_.empty()) [[unlikely]]
        delivered += poll_draining(sink);
    return delivered;
}

template <class Sink>
int ReceiveRings::poll_bitmap(Sink& sink) {
    int delivered = 0;
    for (uint32_t w = 0; w < arrival_words_; ++w) {
        // seq_cst: also the final check after arm() (a plain load on x86).
        if (own_.block.arrival_bitmap[w].load(std::memory_order_seq_cst) == 0) continue;
        // Pairs with the sender's fetch_or in set_arrival_bit(): slots stored before it are visible after
        // this.
        uint64_t bits = own_.block.arrival_bitmap[w].exchange(0, std::memory_order_acq_rel);
        while (bits != 0) {
            const auto from = static_cast<Peer>(w * 64 + static_cast<uint32_t>(std::countr_zero(bits)));
            bits &= bits - 1;
            if (from >= in_.size()) continue;
            own_.block.counters.add_owner(Counter::ring_polls);
            if (own_.mode != PollMode::hybrid) rings_.register_sender(from);
            if (!draining_.empty())
                std::erase(draining_, from); // the sender has seen that it is no longer polled directly
            delivered += drain(from, sink);
            if (own_.mode == PollMode::hybrid && !in_[from].polled &&
                polled_.should_add(++in_[from].bitmap_arrivals))
                poll_directly(from);
        }
    }
    return delivered;
}

template <class Sink>
int ReceiveRings::poll_draining(Sink& sink) {
    int delivered = 0;
    std::vector<Peer> draining;
    draining.swap(draining_);
    const bool complete = last_drain_poll_;
    last_drain_poll_ = false;
    own_.block.counters.add_owner(Counter::ring_polls, draining.size());
    for (const Peer peer : draining) {
        if (!complete) draining_.push_back(peer);
        if (slot_ready(peer)) delivered += drain(peer, sink);
    }
    return delivered;
}

template <class Sink>
int ReceiveRings::poll_expected(Sink& sink) {
    polling_ = true;
    const int from_bitmap = poll_bitmap(sink);
    const int expected = poll_rings(rings_.expected(), sink);
    polling_ = false;
    return from_bitmap + expected;
}

template <class Sink>
void ReceiveRings::poll_all(Sink& sink) {
    if (own_.mode != PollMode::expected) return;
    for (const Peer peer : rings_.registered()) force_poll(peer);
    if (!polling_) poll_expected(sink);
}

// Delivery may change the list: a ring may move to the index of one that is no longer expected, and is then
// polled in the next round. That round follows soon because something was delivered. If nothing is delivered,
// the list does not change and all rings are polled, as the final check before a sleep requires.
template <class Sink>
int ReceiveRings::poll_rings(const std::vector<Peer>& rings, Sink& sink) {
    int delivered = 0;
    size_t i = 0;
    size_t polls = 0;
    for (const size_t most = rings.size(); polls < most && i < rings.size(); ++polls) {
        const Peer peer = rings[i];
        if (slot_ready(peer)) delivered += drain(peer, sink);
        if (i < rings.size() && rings[i] == peer) ++i;
    }
    own_.block.counters.add_owner(Counter::ring_polls, polls);
    return delivered;
}

template <class Take>
inline uint32_t ReceiveRings::take_inline(Peer from, uint32_t most, const Take& take) {
    ConsumerRing& in = in_[from];
    if (!in.polled) [[unlikely]] // polled rings are connected, and only in poll mode hybrid
        return 0;
    wire::Ring& ring = *in.ring;
    uint32_t taken = 0;
    do {
        const wire::RingSlot& slot = ring.slot[in.slot];
        // Pairs with the store of seq in SendRings::store_seq().
        if (slot.seq.load(std::memory_order_acquire) != in.consumed + 1 ||
            (slot.envelope.flags & (wire::flag_multislot | wire::flag_cell)) != 0)
            break;
        const uint32_t next = advance_slot(in.slot, 1);
        __builtin_prefetch(&ring.slot[next]);
        if (!take(slot.envelope, slot.payload)) break;
        ++in.consumed;
        in.slot = next;
    } while (++taken < most);
    if (in.consumed - in.published >= publish_interval) [[unlikely]]
        publish_taken(from, in);
    return taken;
}

template <class Sink>
int ReceiveRings::drain(Peer from, Sink& sink) {
    ConsumerRing& in = in_[from];
    if (!in.connected) connect(from);
    wire::Ring& ring = *in.ring;
    int delivered = 0;
    // At most one lap, so that a fast sender cannot keep the receiver in this loop.
    for (; delivered < static_cast<int>(wire::ring_slots); ++delivered) {
        const SlotSpan span{ring.slot, wire::ring_slots, in.slot, 0, 0};
        // Pairs with the store of seq in SendRings::publish().
        if (span.first().seq.load(std::memory_order_acquire) != in.consumed + 1) break;
        // In a stream the following slots are probably present; otherwise reading ahead would disturb the
        // sender.
        __builtin_prefetch(&span.at(delivered < 2 ? 1 : read_ahead));
        const uint32_t lines = reader_.deliver(from, span, sink);
        in.consumed += lines;
        in.slot = advance_slot(in.slot, lines);
        if (in.consumed - in.published >= publish_interval) publish_consumed(from, in);
    }
    // More may be present: poll again.
    if (delivered == static_cast<int>(wire::ring_slots)) set_own_arrival_bit(from);
    return delivered;
}

} // namespace zipmpi::transport::shm
