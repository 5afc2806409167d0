// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Poll mode mpsc: the consumer's side of the one ring of this rank that all senders write.
#pragma once

#include "transport/shm/slot_reader.hpp"

namespace zipmpi::transport::shm {

class MpscReceiver {
  public:
    MpscReceiver(const LocalRank& own, WakeupPort& wakeups)
        : own_(own)
        , wakeups_(wakeups) {}

    template <class Sink>
    int poll(SlotReader& reader, Sink& sink);

  private:
    void publish_consumed(wire::MpscRing& ring);

    LocalRank own_;
    WakeupPort& wakeups_;
    uint32_t consumed_ = 0;
    uint32_t published_ = 0; // count last published to the producers
};

template <class Sink>
int MpscReceiver::poll(SlotReader& reader, Sink& sink) {
    auto& ring = reinterpret_cast<wire::MpscRing&>(own_.segment.ring(own_.index, 0));
    const uint32_t capacity = wire::mpsc_ring_slots(own_.segment.local_ranks());
    constexpr uint32_t seq_mask = (1U << wire::mpsc_seq_bits) - 1;
    int delivered = 0;
    own_.block.counters.add_owner(Counter::ring_polls);
    for (; delivered < static_cast<int>(capacity); ++delivered) {
        const SlotSpan span{ring.slot, capacity, consumed_ % capacity, 0, 0};
        // seq_cst: also the final check after arm(). Pairs with the store of seq in SendRings::publish().
        const uint32_t seq = span.first().seq.load(std::memory_order_seq_cst);
        const uint32_t from = seq >> wire::mpsc_seq_bits;
        if ((seq & seq_mask) != ((consumed_ + 1) & seq_mask) || from >= own_.segment.local_ranks()) break;
        consumed_ += reader.deliver(from, span, sink);
        if (consumed_ - published_ >= publish_interval) publish_consumed(ring);
    }
    return delivered;
}

} // namespace zipmpi::transport::shm
