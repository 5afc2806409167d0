// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Many first-in-first-out queues, found by key in constant time, through links in the elements themselves: no
// allocation per element. The first element of each queue stands for it in a hash table.
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
        const uint64_t mixed =
            (uint64_t{context} << 32 | static_cast<uint32_t>(source)) * 0x9e3779b97f4a7c15U ^
            static_cast<uint32_t>(tag) * 0xc2b2ae3d27d4eb4fU;
        return (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9U >> 32;
    }
};

template <class T>
struct QueueLink {
    T* next = nullptr; // in the same queue
    T* previous = nullptr;
    T* chain = nullptr; // first elements: the first element of another queue of the same bucket
    T* last = nullptr;  // first elements: the last element of the queue
    uint64_t hash = 0;  // of the key
};

// How: static MatchKey key(const T&); static QueueLink<T>& link(T&).
template <class T, class How>
class KeyedQueues {
  public:
    [[nodiscard]] bool empty() const { return queues_ == 0; }

    [[nodiscard]] T* first(const MatchKey& key) const {
        return queues_ == 0 ? nullptr : find(key, key.hash());
    }

    // An element that passes a test, or null. Takes time with their number.
    template <class Test>
    [[nodiscard]] T* find_if(const Test& test) const {
        for (T* head : buckets_)
            for (; head != nullptr; head = How::link(*head).chain)
                for (T* e = head; e != nullptr; e = How::link(*e).next)
                    if (test(*e)) return e;
        return nullptr;
    }

    void push_back(T& element) {
        const MatchKey key = How::key(element);
        QueueLink<T>& link = How::link(element);
        link = {};
        link.hash = key.hash();
        if (T* head = queues_ == 0 ? nullptr : find(key, link.hash); head != nullptr) {
            T*& last = How::link(*head).last;
            link.previous = last;
            How::link(*last).next = &element;
            last = &element;
            return;
        }
        if (queues_ >= buckets_.size()) grow();
        T*& bucket = buckets_[link.hash & mask_];
        link.last = &element;
        link.chain = bucket;
        bucket = &element;
        ++queues_;
    }

    void remove(T& element) {
        QueueLink<T>& link = How::link(element);
        if (link.previous == nullptr) return remove_head(element, link);
        How::link(*link.previous).next = link.next;
        if (link.next != nullptr)
            How::link(*link.next).previous = link.previous;
        else
            How::link(*find(How::key(element), link.hash)).last = link.previous;
    }

  private:
    static constexpr size_t first_buckets = 64;

    [[nodiscard]] T* find(const MatchKey& key, uint64_t hash) const {
        T* head = buckets_[hash & mask_];
        while (head != nullptr && !(How::key(*head) == key)) head = How::link(*head).chain;
        return head;
    }

    void remove_head(T& element, const QueueLink<T>& link) {
        T** at = &buckets_[link.hash & mask_];
        while (*at != &element) at = &How::link(**at).chain;
        if (link.next == nullptr) {
            *at = link.chain;
            --queues_;
            return;
        }
        QueueLink<T>& next = How::link(*link.next);
        next.previous = nullptr;
        next.chain = link.chain;
        next.last = link.last;
        *at = link.next;
    }

    void grow() {
        std::vector<T*> old(buckets_.empty() ? first_buckets : buckets_.size() * 2);
        old.swap(buckets_);
        mask_ = buckets_.size() - 1;
        for (T* head : old)
            while (head != nullptr) {
                T* const chain = How::link(*head).chain;
                T*& bucket = buckets_[How::link(*head).hash & mask_];
                How::link(*head).chain = bucket;
                bucket = head;
                head = chain;
            }
    }

    std::vector<T*> buckets_;
    uint64_t mask_ = 0;
    size_t queues_ = 0;
};

} // namespace zipmpi::proto
