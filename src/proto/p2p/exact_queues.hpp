// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// ExactQueues: posted receives without wildcards, for Matcher. A table of FIFO queues, one key at a time per
// queue: most programs wait for messages of few keys at once. A receive whose queue has another key is
// refused, and belongs to the keyed queues, which are complete but take three times the instructions. Every
// step takes constant time.
#pragma once

#include "proto/p2p/operation.hpp"

#include <cstdint>

namespace zipmpi::proto {

class ExactQueues {
  public:
    // Returns false, without side effects, if the queue has receives with another key.
    [[gnu::always_inline]] bool push_back(Operation& recv) {
        const uint32_t i = queue_of(key_of(recv));
        if (Operation* const first = first_[i]; first == nullptr) {
            first_[i] = &recv;
        } else {
            if (!has_key(*first, key_of(recv))) [[unlikely]]
                return false;
            last_[i]->posted.link.next = &recv;
            recv.posted.link.previous = last_[i];
        }
        recv.posted.link.next = nullptr;
        last_[i] = &recv;
        return true;
    }
    [[nodiscard]] [[gnu::always_inline]] Operation* first(const MatchKey& key) const {
        Operation* const first = first_[queue_of(key)];
        return first != nullptr && has_key(*first, key) ? first : nullptr;
    }
    // Removes and returns the first receive with this key if it satisfies the predicate, else returns null.
    template <class Test>
    [[gnu::always_inline]] Operation* take_first_if(const MatchKey& key, const Test& test) {
        Operation*& at = first_[queue_of(key)];
        Operation* const first = at;
        if (first == nullptr || !has_key(*first, key) || !test(*first)) return nullptr;
        at = first->posted.link.next; // whose link to the previous one is not read while it is the first
        return first;
    }
    void remove(const Operation& recv) {
        const uint32_t i = queue_of(key_of(recv));
        const QueueLink<Operation>& link = recv.posted.link;
        if (first_[i] == &recv) {
            first_[i] = link.next;
            return;
        }
        link.previous->posted.link.next = link.next;
        if (link.next != nullptr)
            link.next->posted.link.previous = link.previous;
        else
            last_[i] = link.previous;
    }
    // A receive that satisfies the predicate, or null. Linear in the number of receives.
    template <class Test>
    [[nodiscard]] Operation* find_if(const Test& test) const {
        for (Operation* first : first_)
            for (Operation* op = first; op != nullptr; op = op->posted.link.next)
                if (test(*op)) return op;
        return nullptr;
    }

    // For debuggers: begin and end of an array of pointers to the first receives.
    [[nodiscard]] const void* places() const { return &range_; }

  private:
    static constexpr uint32_t queues = 64;

    static MatchKey key_of(const Operation& op) { return {op.context, op.source, op.tag}; }
    // One branch per member: fewer instructions than the comparison of keys.
    [[gnu::always_inline]] static bool has_key(const Operation& op, const MatchKey& key) {
        if (op.tag != key.tag) [[unlikely]]
            return false;
        if (op.source != key.source) [[unlikely]]
            return false;
        return op.context == key.context;
    }
    // Neighboring sources, tags and communicators have different queues.
    static uint32_t queue_of(const MatchKey& key) {
        return (static_cast<uint32_t>(key.tag) + static_cast<uint32_t>(key.source) * 9 + key.context * 4) %
               queues;
    }

    Operation* first_[queues] = {};
    Operation* last_[queues] = {}; // of queues that are not empty
    Operation* const* range_[2] = {first_, first_ + queues};
};

} // namespace zipmpi::proto
