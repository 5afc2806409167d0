// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Locks in shared memory.
//
// TicketRwLock: FIFO readers–writer lock. Every process draws a ticket; a writer waits until all earlier
// tickets have left, a reader until all earlier tickets are readers that have entered. A waiter stores its id
// at its ticket, so that a release wakes only the next waiter.
//
// When oversubscribed, the turn of a sleeping waiter stays open until it is awake, and a running writer may
// overtake it, at most `max_overtakes` times: otherwise every grant would cost a context switch.
//
//   served ──> sleeping turn (next waiter sleeps) ──> taken by its owner
//                  │  ^
//                  v  │ up to max_overtakes times
//                 overtaken (a writer without a ticket holds the lock)
//
// SpinGuard: spin lock for a few instructions or one copy. Its holder must not wait for anything. The word
// has the id of the holder, so that a waiter takes over from a rank that failed meanwhile; the elements that
// rank was changing are undefined.
//
// Threads: under the lock of the progress engine, which TicketRwLock releases while it waits.
#pragma once

#include "proto/progress/wait.hpp"
#include "wire/window_layout.hpp"

namespace zipmpi::proto::rma {

enum class LockMode : uint8_t { shared, exclusive };

class TicketRwLock {
  public:
    explicit TicketRwLock(wire::WindowLock& lock)
        : lock_(lock) {}

    // wait_operation: shown in reports while the rank waits. Return false if a member of its communicator has
    // failed and the turn does not come: the failed member may hold the lock. Its ticket is then lost, and
    // with it the lock.
    bool lock_exclusive(ProgressEngine& engine, const Operation& wait_operation) {
        uint64_t now = lock_.tickets.load(std::memory_order_relaxed);
        for (;;) {
            const bool passes = (now & sleeping_turn) != 0 && overtakes_of(now) < max_overtakes;
            const uint64_t next =
                passes ? (now ^ (sleeping_turn | overtaken)) + one_overtake : with_issued(now, 1);
            // pairs with unlock(): makes writes of earlier holders visible
            if (!lock_.tickets.compare_exchange_weak(now, next, std::memory_order_seq_cst)) continue;
            if (!passes && writers(now) != issued(now)) [[unlikely]]
                return await_exclusive(engine, issued(now), wait_operation);
            return true;
        }
    }
    bool lock_shared(ProgressEngine& engine, const Operation& wait_operation) {
        uint64_t now = lock_.tickets.load(std::memory_order_relaxed);
        for (;;) {
            const bool at_once = readers(now) == issued(now);
            const uint64_t next = with_issued(at_once ? with_readers(now) : now, 1);
            if (!lock_.tickets.compare_exchange_weak(now, next, std::memory_order_seq_cst)) continue;
            return at_once || await_shared(engine, issued(now), wait_operation);
        }
    }
    // Draws a ticket without waiting; returns true if the lock is granted.
    bool draw_ticket(LockMode mode, uint16_t& ticket) {
        const bool exclusive = mode == LockMode::exclusive;
        uint64_t now = lock_.tickets.load(std::memory_order_relaxed);
        for (;;) {
            const bool at_once = (exclusive ? writers(now) : readers(now)) == issued(now);
            const uint64_t next = with_issued(at_once && !exclusive ? with_readers(now) : now, 1);
            if (!lock_.tickets.compare_exchange_weak(now, next, std::memory_order_seq_cst)) continue;
            ticket = issued(now);
            return at_once;
        }
    }
    // Polls the turn of a drawn ticket; registers this rank for a wakeup if the turn has not come.
    enum class Turn : uint8_t { granted, waiting, unknown }; // unknown: no wakeup registered, poll again
    Turn poll_turn(ProgressEngine& engine, LockMode mode, uint16_t ticket);

    void unlock_exclusive(ProgressEngine& engine) { unlock(engine, LockMode::exclusive); }
    void unlock_shared(ProgressEngine& engine) { unlock(engine, LockMode::shared); }
    void unlock(ProgressEngine& engine, LockMode mode) {
        uint64_t now = lock_.tickets.load(std::memory_order_relaxed);
        uint64_t next = 0;
        do next = mode == LockMode::exclusive ? after_writer(engine, now) : with_writers(now);
        while (!lock_.tickets.compare_exchange_weak(now, next, std::memory_order_seq_cst));
        if (writers(next) != issued(next)) [[unlikely]]
            wake(engine, writers(next));
    }

  private:
    static uint16_t writers(uint64_t t) { return static_cast<uint16_t>(t); }
    static uint16_t readers(uint64_t t) { return static_cast<uint16_t>(t >> 16); }
    static uint16_t issued(uint64_t t) { return static_cast<uint16_t>(t >> 32); }
    static unsigned overtakes_of(uint64_t t) { return static_cast<unsigned>(t >> 50); }
    static constexpr uint64_t sleeping_turn = uint64_t{1}
                                              << 48;         // the next waiter sleeps and may be overtaken
    static constexpr uint64_t overtaken = uint64_t{1} << 49; // a writer without a ticket holds the lock
    static constexpr uint64_t one_overtake = uint64_t{1} << 50;
    static constexpr unsigned max_overtakes = 8;
    static constexpr uint64_t turn_bits = ~uint64_t{0} << 48;
    static uint64_t pack(uint64_t turn, uint16_t w, uint16_t r, uint16_t g) {
        return (turn & turn_bits) | w | uint64_t{r} << 16 | uint64_t{g} << 32;
    }
    static uint64_t with_issued(uint64_t t, uint16_t n) {
        return pack(t, writers(t), readers(t), static_cast<uint16_t>(issued(t) + n));
    }
    static uint64_t with_readers(uint64_t t) {
        return pack(t, writers(t), static_cast<uint16_t>(readers(t) + 1), issued(t));
    }
    static uint64_t with_writers(uint64_t t) {
        return pack(t, static_cast<uint16_t>(writers(t) + 1), readers(t), issued(t));
    }

    // State after a writer leaves: its ticket is served, or the overtaking ends if it had none. Marks the
    // turn of the next waiter as sleeping if that one sleeps.
    [[nodiscard]] uint64_t after_writer(ProgressEngine& engine, uint64_t now) const {
        const bool had_ticket = (now & overtaken) == 0;
        uint64_t next = had_ticket ? with_writers(with_readers(now)) & ~turn_bits : now ^ overtaken;
        const bool waited_for = writers(next) != issued(next);
        if (waited_for && overtakes_of(next) < max_overtakes && is_turn_sleeping(engine, writers(next)))
            next |= sleeping_turn;
        return next;
    }

    struct Waiter;
    [[gnu::cold]] bool await_exclusive(ProgressEngine& engine, uint16_t ticket,
                                       const Operation& wait_operation);
    [[gnu::cold]] bool await_shared(ProgressEngine& engine, uint16_t ticket, const Operation& wait_operation);
    bool await(ProgressEngine& engine, uint16_t ticket, LockMode mode, const Operation& wait_operation);
    void admit_readers(ProgressEngine& engine, uint16_t ticket);
    [[gnu::cold]] void wake(ProgressEngine& engine, uint16_t ticket);
    // The owner of the ticket has registered for a wakeup and is probably not running.
    [[gnu::cold]] bool is_turn_sleeping(ProgressEngine& engine, uint16_t ticket) const;

    wire::WindowLock& lock_;
};

class SpinGuard {
  public:
    // A rank as holder of guards.
    struct Holder {
        const segment::NodeSegment* segment;
        uint32_t id; // 1 + local index
    };
    SpinGuard(std::atomic<uint32_t>& word, const Holder& holder)
        : word_(word) {
        uint32_t no_holder = 0;
        if (!word_.compare_exchange_strong(no_holder, holder.id, std::memory_order_acquire)) [[unlikely]]
            await(holder); // acquire pairs with the release
    }
    ~SpinGuard() { word_.store(0, std::memory_order_release); }
    SpinGuard(const SpinGuard&) = delete;
    SpinGuard& operator=(const SpinGuard&) = delete;

  private:
    [[gnu::cold]] void await(const Holder& holder);
    std::atomic<uint32_t>& word_;
};

} // namespace zipmpi::proto::rma
