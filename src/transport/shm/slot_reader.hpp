// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reads the message in the slots of a ring, checks it, and delivers it.
#pragma once

#include "transport/shm/slot_span.hpp"
#include "transport/shm/wakeup_port.hpp"

namespace zipmpi::transport::shm {

class SlotReader {
  public:
    SlotReader(const LocalRank& own, WakeupPort& wakeups)
        : own_(own)
        , wakeups_(wakeups) {}

    // Delivers one message to the sink. Returns the number of its slots.
    template <class Sink>
    [[gnu::always_inline]] uint32_t deliver(Peer from, const SlotSpan& span, Sink& sink);

  private:
    template <class Sink>
    [[gnu::noinline]] uint32_t deliver_multislot(Peer from, const wire::Envelope& envelope,
                                                 const SlotSpan& span, Sink& sink);
    template <class Sink>
    [[gnu::noinline]] void deliver_cell(Peer from, const wire::Envelope& envelope, const wire::RingSlot& slot,
                                        Sink& sink);
    [[nodiscard]] bool is_valid(const wire::Envelope& envelope, const wire::CellRef& ref) const;
    void release_cell(Peer owner, const wire::CellRef& ref);

    LocalRank own_;
    WakeupPort& wakeups_;
};

template <class Sink>
inline uint32_t SlotReader::deliver(Peer from, const SlotSpan& span, Sink& sink) {
    // Private copy: check and use must see the same values even if the sender misbehaves.
    const wire::RingSlot& slot = span.first();
    const wire::Envelope envelope = slot.envelope;
    if ((envelope.flags & (wire::flag_multislot | wire::flag_cell)) == 0) [[likely]] {
        if (envelope.inline_bytes <= wire::inline_max) [[likely]]
            sink(Arrival{from, envelope, slot.payload, nullptr, 0});
        return 1;
    }
    if ((envelope.flags & wire::flag_multislot) != 0) return deliver_multislot(from, envelope, span, sink);
    deliver_cell(from, envelope, slot, sink);
    return 1;
}

template <class Sink>
uint32_t SlotReader::deliver_multislot(Peer from, const wire::Envelope& envelope, const SlotSpan& span,
                                       Sink& sink) {
    const uint32_t more = envelope.extra_slots;
    const size_t last = envelope.inline_bytes;
    if (more == 0 || more > wire::max_extra_slots || last == 0 || last > wire::slot_continuation_bytes)
        return 1;
    const wire::RingSlot& slot = span.first();
    std::byte message[wire::multislot_max];
    std::memcpy(message, slot.payload, wire::inline_max);
    size_t at = wire::inline_max;
    for (uint32_t i = 1; i <= more; ++i, at += wire::slot_continuation_bytes)
        std::memcpy(message + at, reinterpret_cast<const wire::RingSlotTail&>(span.at(i)).bytes,
                    wire::slot_continuation_bytes);
    sink(Arrival{from, envelope, slot.payload, message, at - wire::slot_continuation_bytes + last});
    return 1 + more;
}

template <class Sink>
void SlotReader::deliver_cell(Peer from, const wire::Envelope& envelope, const wire::RingSlot& slot,
                              Sink& sink) {
    wire::CellRef cell{};
    std::memcpy(&cell, slot.payload + wire::inline_max_with_cell, sizeof cell);
    if (!is_valid(envelope, cell)) [[unlikely]]
        return;
    sink(Arrival{from, envelope, slot.payload, own_.segment.cell(from, cell.cell) + wire::cache_line,
                 cell.bytes});
    release_cell(from, cell);
}

} // namespace zipmpi::transport::shm
