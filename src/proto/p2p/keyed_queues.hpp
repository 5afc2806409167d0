// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// FIFO queues by key, found in constant time. Intrusive: links are in the elements, so there is no allocation
// per element. A hash table holds the first element of each queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace zipmpi::proto {

struct MatchKey {
    uint32_t context = 0;
    int32_t source = 0;
    int32_t tag = 0;
    bool operator==(const MatchKey&) const = default;
    [[nodiscard]] uint64_t hash() const {
        // The upper half of a product depends on all lower bits of its factors.
        return ((uint64_t{context} << 32 | static_cast<uint32_t>(source)) * 0x9e3779b97f4a7c15U +
                static_cast<uint32_t>(tag) * 0xc2b2ae3d27d4eb4fU) >>
               32;
    }
};

template <class T>
struct QueueLink {
    T* next = nullptr; // in the queue
    T* previous = nullptr;
    T* chain = nullptr; // first elements: the first element of the next queue in the bucket
    T* last = nullptr;  // first elements: the last element of the queue
    uint64_t hash = 0;  // of the key
};

// Traits: static MatchKey key(const T&); static QueueLink<T>& link(T&).
template <class T, class Traits>
class KeyedQueues {
  public:
    [[nodiscard]] bool empty() const { return queues_ == 0; }

    [[nodiscard]] T* first(const MatchKey& key) const {
        return queues_ == 0 ? nullptr : find(key, key.hash());
    }

    // Removes and returns the first element with this key, or returns null.
    [[gnu::always_inline]] T* take_first(const MatchKey& key) {
        if (queues_ == 0) return nullptr;
        T** at = &buckets_[key.hash() & mask_];
        while (*at != nullptr && !(Traits::key(**at) == key)) at = &Traits::link(**at).chain;
        T* const element = *at;
        if (element != nullptr) unlink_head(at, Traits::link(*element));
        return element;
    }

    // An element that satisfies the predicate, or null. Linear in the number of elements.
    template <class Test>
    [[nodiscard]] T* find_if(const Test& test) const {
        for (T* head : buckets_)
            for (; head != nullptr; head = Traits::link(*head).chain)
                for (T* e = head; e != nullptr; e = Traits::link(*e).next)
                    if (test(*e)) return e;
        return nullptr;
    }

    [[gnu::always_inline]] void push_back(T& element) {
        const MatchKey key = Traits::key(element);
        QueueLink<T>& link = Traits::link(element);
        link.hash = key.hash();
        link.next = nullptr;
        if (queues_ == capacity_) [[unlikely]]
            grow();
        T*& bucket = buckets_[link.hash & mask_];
        T* head = bucket;
        while (head != nullptr && !(Traits::key(*head) == key)) head = Traits::link(*head).chain;
        if (head == nullptr) {
            link.previous = nullptr;
            link.last = &element;
            link.chain = bucket;
            bucket = &element;
            ++queues_;
            return;
        }
        T*& last = Traits::link(*head).last;
        link.previous = last;
        Traits::link(*last).next = &element;
        last = &element;
    }

    void remove(T& element) {
        QueueLink<T>& link = Traits::link(element);
        if (link.previous == nullptr) return remove_head(element, link);
        Traits::link(*link.previous).next = link.next;
        if (link.next != nullptr)
            Traits::link(*link.next).previous = link.previous;
        else
            Traits::link(*find(Traits::key(element), link.hash)).last = link.previous;
    }

    // The hash table, for debuggers.
    [[nodiscard]] const std::vector<T*>& buckets() const { return buckets_; }

  private:
    static constexpr size_t first_buckets = 64;

    [[nodiscard]] T* find(const MatchKey& key, uint64_t hash) const {
        T* head = buckets_[hash & mask_];
        while (head != nullptr && !(Traits::key(*head) == key)) head = Traits::link(*head).chain;
        return head;
    }

    void remove_head(T& element, const QueueLink<T>& link) {
        T** at = &buckets_[link.hash & mask_];
        while (*at != &element) at = &Traits::link(**at).chain;
        unlink_head(at, link);
    }

    // `at`: the pointer to the element in its bucket.
    void unlink_head(T** at, const QueueLink<T>& link) {
        if (link.next == nullptr) {
            *at = link.chain;
            --queues_;
            return;
        }
        QueueLink<T>& next = Traits::link(*link.next);
        next.previous = nullptr;
        next.chain = link.chain;
        next.last = link.last;
        *at = link.next;
    }

    [[gnu::cold]] void grow() {
        std::vector<T*> old(buckets_.empty() ? first_buckets : buckets_.size() * 2);
        old.swap(buckets_);
        capacity_ = buckets_.size();
        mask_ = capacity_ - 1;
        for (T* head : old)
            while (head != nullptr) {
                T* const chain = Traits::link(*head).chain;
                T*& bucket = buckets_[Traits::link(*head).hash & mask_];
                Traits::link(*head).chain = bucket;
                bucket = head;
                head = chain;
            }
    }

    std::vector<T*> buckets_;
    uint64_t mask_ = 0;
    size_t capacity_ = 0; // queues before the table grows
    size_t queues_ = 0;
};

} // namespace zipmpi::proto
