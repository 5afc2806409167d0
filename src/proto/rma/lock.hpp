// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Locks in shared memory.
//
// FairLock: readers and writers in the order in which they came. Everybody draws a ticket; a writer waits
// until all before it have left, a reader until all before it are readers that have got in. A waiter leaves
// its name at its ticket, so that whoever lets it go on wakes it and nobody else.
//
// Busy: a word for a few instructions or one copy. Its holder waits for nothing meanwhile.
//
// Threads: under the lane's lock, which FairLock gives up while it waits.
#pragma once

#include "proto/progress/wait.hpp"
#include "wire/window_layout.hpp"

namespace zipmpi::proto::rma {

class FairLock {
  public:
    explicit FairLock(wire::WindowLock& lock)
        : lock_(lock) {}

    // shown: what a report says the rank waits for.
    void lock_exclusive(Lane& lane, const Operation& shown) {
        uint64_t now = lock_.tickets.load(std::memory_order_relaxed);
        // pairs with unlock: what earlier holders have written
        while (!lock_.tickets.compare_exchange_weak(now, with_given(now, 1), std::memory_order_seq_cst)) {
        }
        if (writers(now) != given(now)) [[unlikely]]
            await_exclusive(lane, given(now), shown);
    }
    void lock_shared(Lane& lane, const Operation& shown) {
        uint64_t now = lock_.tickets.load(std::memory_order_relaxed);
        for (;;) {
            const bool at_once = readers(now) == given(now);
            const uint64_t next = with_given(at_once ? with_readers(now) : now, 1);
            if (!lock_.tickets.compare_exchange_weak(now, next, std::memory_order_seq_cst)) continue;
            if (!at_once) await_shared(lane, given(now), shown);
            return;
        }
    }
    // Without waiting: draws a ticket. True: got in.
    bool draw(bool exclusive, uint16_t& ticket) {
        uint64_t now = lock_.tickets.load(std::memory_order_relaxed);
        for (;;) {
            const bool at_once = (exclusive ? writers(now) : readers(now)) == given(now);
            const uint64_t next = with_given(at_once && !exclusive ? with_readers(now) : now, 1);
            if (!lock_.tickets.compare_exchange_weak(now, next, std::memory_order_seq_cst)) continue;
            ticket = given(now);
            return at_once;
        }
    }
    // The turn of a ticket that was drawn: looks, and leaves the own name if it has not come. True: got in.
    enum class Turn : uint8_t { come, not_yet, unknown }; // unknown: nobody wakes this rank, look again
    Turn look(Lane& lane, bool exclusive, uint16_t ticket);

    void unlock_exclusive(Lane& lane) { unlock(lane, true); }
    void unlock_shared(Lane& lane) { unlock(lane, false); }

  private:
    static uint16_t writers(uint64_t t) { return static_cast<uint16_t>(t); }
    static uint16_t readers(uint64_t t) { return static_cast<uint16_t>(t >> 16); }
    static uint16_t given(uint64_t t) { return static_cast<uint16_t>(t >> 32); }
    static uint64_t pack(uint16_t w, uint16_t r, uint16_t g) {
        return w | uint64_t{r} << 16 | uint64_t{g} << 32;
    }
    static uint64_t with_given(uint64_t t, uint16_t n) {
        return pack(writers(t), readers(t), static_cast<uint16_t>(given(t) + n));
    }
    static uint64_t with_readers(uint64_t t) {
        return pack(writers(t), static_cast<uint16_t>(readers(t) + 1), given(t));
    }
    static uint64_t with_writers(uint64_t t) {
        return pack(static_cast<uint16_t>(writers(t) + 1), readers(t), given(t));
    }

    void unlock(Lane& lane, bool was_writer) {
        uint64_t now = lock_.tickets.load(std::memory_order_relaxed);
        uint64_t next = 0;
        do next = with_writers(was_writer ? with_readers(now) : now);
        while (!lock_.tickets.compare_exchange_weak(now, next, std::memory_order_seq_cst));
        if (writers(next) != given(next)) [[unlikely]]
            wake(lane, writers(next));
    }

    struct Waiting;
    [[gnu::cold]] void await_exclusive(Lane& lane, uint16_t ticket, const Operation& shown);
    [[gnu::cold]] void await_shared(Lane& lane, uint16_t ticket, const Operation& shown);
    void await(Lane& lane, uint16_t ticket, bool exclusive, const Operation& shown);
    void let_readers_in(Lane& lane, uint16_t ticket);
    [[gnu::cold]] void wake(Lane& lane, uint16_t ticket);

    wire::WindowLock& lock_;
};

class Busy {
  public:
    explicit Busy(std::atomic<uint32_t>& word)
        : word_(word) {
        if (word_.exchange(1, std::memory_order_acquire) != 0) [[unlikely]] // pairs with the release
            await();
    }
    ~Busy() { word_.store(0, std::memory_order_release); }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

  private:
    [[gnu::cold]] void await();
    std::atomic<uint32_t>& word_;
};

} // namespace zipmpi::proto::rma
