// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Consecutive slots of a ring: those of one message.
#pragma once

#include "transport/shm/local_rank.hpp"

namespace zipmpi::transport::shm {

struct SlotSpan {
    wire::RingSlot* slots = nullptr; // of the ring; null: no space
    uint32_t capacity = 0;
    uint32_t slot = 0;
    uint32_t seq = 0;    // of the first slot
    uint32_t sender = 0; // poll mode mpsc: in the upper bits of sequence numbers

    [[nodiscard]] wire::RingSlot& first() const { return slots[slot]; }
    [[nodiscard]] wire::RingSlot& at(uint32_t i) const {
        const uint32_t s = slot + i;
        return slots[s < capacity ? s : s - capacity];
    }
    [[nodiscard]] uint32_t seq_of(uint32_t i, PollMode mode) const {
        if (mode != PollMode::mpsc) return seq + i;
        return sender << wire::mpsc_seq_bits | ((seq + i) & ((1U << wire::mpsc_seq_bits) - 1));
    }
};

// The slot that is `lines` after another one in a ring of a pair.
[[nodiscard]] inline uint32_t advance_slot(uint32_t slot, uint32_t lines) {
    return slot + lines < wire::ring_slots ? slot + lines : slot + lines - wire::ring_slots;
}

// Consumed slots are published to the producer in batches; it needs the count only when its ring seems full.
inline constexpr uint32_t publish_interval = 16;
static_assert(2 * publish_interval < wire::ring_slots);

} // namespace zipmpi::transport::shm
