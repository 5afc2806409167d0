// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Locks in shared memory.
//
// FairLock: readers and writers in the order in which they came. Everybody draws a ticket; a writer waits
// until all before it have left, a reader until all before it are readers that have got in. A waiter leaves
// its name at its ticket, so that whoever lets it go on wakes it and nobody else.
//
// Where ranks outnumber CPUs the turn of a sleeper rests until it is awake, and a writer that runs may pass
// it meanwhile, at most `most_passes` times: else every grant would cost a change of processes.
//
//   served ──> rests (next one sleeps) ──> taken by its owner
//                  │  ^
//                  v  │ up to most_passes times
//                 passed (a writer without a ticket is inside)
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
        for (;;) {
            const bool passes = (now & resting) != 0 && passes_of(now) < most_passes;
            const uint64_t next = passes ? (now ^ (resting | passed)) + one_pass : with_given(now, 1);
            // pairs with unlock: what earlier holders have written
            if (!lock_.tickets.compare_exchange_weak(now, next, std::memory_order_seq_cst)) continue;
            if (!passes && writers(now) != given(now)) [[unlikely]]
                await_exclusive(lane, given(now), shown);
            return;
        }
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
    static unsigned passes_of(uint64_t t) { return static_cast<unsigned>(t >> 50); }
    static constexpr uint64_t resting = uint64_t{1}
                                        << 48; // the next one sleeps; its turn is free to be passed
    static constexpr uint64_t passed = uint64_t{1} << 49; // a writer without a ticket is inside
    static constexpr uint64_t one_pass = uint64_t{1} << 50;
    static constexpr unsigned most_passes = 8;
    static constexpr uint64_t turn_bits = ~uint64_t{0} << 48;
    static uint64_t pack(uint64_t turn, uint16_t w, uint16_t r, uint16_t g) {
        return (turn & turn_bits) | w | uint64_t{r} << 16 | uint64_t{g} << 32;
    }
    static uint64_t with_given(uint64_t t, uint16_t n) {
        return pack(t, writers(t), readers(t), static_cast<uint16_t>(given(t) + n));
    }
    static uint64_t with_readers(uint64_t t) {
        return pack(t, writers(t), static_cast<uint16_t>(readers(t) + 1), given(t));
    }
    static uint64_t with_writers(uint64_t t) {
        return pack(t, static_cast<uint16_t>(writers(t) + 1), readers(t), given(t));
    }

    // After a writer: its ticket is served, or if it had none, nothing but its passing ends. The turn of the
    // next one, whoever it is, rests if it sleeps.
    [[nodiscard]] uint64_t after_writer(Lane& lane, uint64_t now) const {
        const bool had_ticket = (now & passed) == 0;
        uint64_t next = had_ticket ? with_writers(with_readers(now)) & ~turn_bits : now ^ passed;
        const bool waited_for = writers(next) != given(next);
        if (waited_for && passes_of(next) < most_passes && rests(lane, writers(next))) next |= resting;
        return next;
    }

    void unlock(Lane& lane, bool was_writer) {
        uint64_t now = lock_.tickets.load(std::memory_order_relaxed);
        uint64_t next = 0;
        do next = was_writer ? after_writer(lane, now) : with_writers(now);
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
    // The owner of the ticket has left its name, and is not likely to run now.
    [[gnu::cold]] bool rests(Lane& lane, uint16_t ticket) const;

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
