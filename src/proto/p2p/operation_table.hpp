// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Table of operations that a peer will name in a later message. An id combines index and generation, so a
// stale or invented id finds nothing instead of an unrelated operation.
#pragma once

#include "proto/p2p/expected_peers.hpp"

#include <vector>

namespace zipmpi::proto {

class OperationTable {
  public:
    static constexpr uint32_t index_bits = 20; // up to 2^20 operations in flight per process

    explicit OperationTable(const ExpectedPeers& expecting = {})
        : expected_peers_(expecting) {}

    // A held send is then sent as others are: it would wait in the queue, and replies to its peer behind it.
    [[nodiscard]] bool full() const { return free_.empty() && slots_.size() >= (1U << index_bits); }
    // Returns 0 if the table is full.
    wire::OperationId add(Operation& op) {
        if (free_.empty()) {
            if (full()) return 0;
            free_.push_back(static_cast<uint32_t>(slots_.size()));
            slots_.emplace_back();
        }
        const uint32_t index = free_.back();
        free_.pop_back();
        Slot& slot = slots_[index];
        slot.op = &op;
        op.own_id = slot.generation << index_bits | index;
        expected_peers_.count_reply(op.transport_peer, 1);
        return op.own_id;
    }

    [[nodiscard]] Operation* find(wire::OperationId id) const {
        const uint32_t index = id & ((1U << index_bits) - 1);
        if (index >= slots_.size() || slots_[index].generation != id >> index_bits) return nullptr;
        return slots_[index].op;
    }

    // An operation that satisfies the predicate, or null. Linear in the number of operations.
    template <class Test>
    [[nodiscard]] Operation* find_if(const Test& test) const {
        for (const Slot& slot : slots_)
            if (slot.op != nullptr && test(*slot.op)) return slot.op;
        return nullptr;
    }

    void remove(Operation& op) {
        const uint32_t index = op.own_id & ((1U << index_bits) - 1);
        Slot& slot = slots_[index];
        slot.op = nullptr;
        slot.generation = slot.generation == max_generation ? 1 : slot.generation + 1;
        free_.push_back(index);
        op.own_id = 0;
        expected_peers_.count_reply(op.transport_peer, -1);
    }

    // For debuggers: {begin, end} of the slots, which begin with a pointer to the operation.
    [[nodiscard]] const void* slots() const { return &slots_; }
    static constexpr uint32_t slot_bytes = 2 * sizeof(void*);

  private:
    static constexpr uint32_t max_generation = (1U << (32 - index_bits)) - 1;
    struct Slot {
        Operation* op = nullptr;
        uint32_t generation = 1; // never 0: id 0 is invalid
    };
    static_assert(sizeof(Slot) == slot_bytes);
    ExpectedPeers expected_peers_;
    std::vector<Slot> slots_;
    std::vector<uint32_t> free_;
};

} // namespace zipmpi::proto
