// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/lock.hpp"

namespace zipmpi::proto::rma {
namespace {

// Looks before the CPU is offered to others: what is waited for takes about as long as one copy.
constexpr int busy_looks = 100;

} // namespace

struct FairLock::Waiting {
    const FairLock* lock;
    uint16_t ticket;
    bool exclusive;
    uint16_t name; // 1 + own local index

    // Tickets wrap around; so many are before this one.
    [[nodiscard]] uint16_t ahead() const {
        const uint64_t now = lock->lock_.tickets.load(std::memory_order_seq_cst);
        return static_cast<uint16_t>(ticket - (exclusive ? writers(now) : readers(now)));
    }
    // The turn has come. One that rests is taken.
    [[nodiscard]] bool enters() const {
        uint64_t now = lock->lock_.tickets.load(std::memory_order_seq_cst);
        while (ticket == (exclusive ? writers(now) : readers(now)) && (now & passed) == 0)
            if ((now & resting) == 0 ||
                lock->lock_.tickets.compare_exchange_weak(now, now ^ resting, std::memory_order_seq_cst))
                return true;
        return false;
    }
    [[nodiscard]] std::atomic<uint16_t>& slot() const {
        return lock->lock_.waiters[ticket % wire::lock_slots];
    }
    // seq_cst with the tickets: either who lets us go on sees the name, or we see that we may.
    static bool last_look(void* waiter) {
        const auto& w = *static_cast<const Waiting*>(waiter);
        if (w.ahead() >= wire::lock_slots) { // the slot may be another's
            os::yield_cpu();
            return true;
        }
        w.slot().store(w.name, std::memory_order_seq_cst);
        return w.ahead() == 0 && !w.is_passed();
    }
    [[nodiscard]] bool is_passed() const {
        return (lock->lock_.tickets.load(std::memory_order_seq_cst) & passed) != 0;
    }
};

void FairLock::await(Lane& lane, uint16_t ticket, bool exclusive, const Operation& shown) {
    Waiting waiting{this, ticket, exclusive, static_cast<uint16_t>(lane.shm().self() + 1)};
    WaitNote note = note_on(shown);
    note.last_look = Waiting::last_look;
    note.waiter = &waiting;
    note.in_a_row = true;
    wait_until(
        lane, [&] { return waiting.enters(); }, note);
    waiting.slot().store(0, std::memory_order_relaxed);
}

void FairLock::await_exclusive(Lane& lane, uint16_t ticket, const Operation& shown) {
    await(lane, ticket, true, shown);
}

void FairLock::await_shared(Lane& lane, uint16_t ticket, const Operation& shown) {
    await(lane, ticket, false, shown);
    let_readers_in(lane, ticket);
}

FairLock::Turn FairLock::look(Lane& lane, bool exclusive, uint16_t ticket) {
    const Waiting waiting{this, ticket, exclusive, static_cast<uint16_t>(lane.shm().self() + 1)};
    if (!waiting.enters()) {
        if (waiting.ahead() >= wire::lock_slots) return Turn::unknown;
        waiting.slot().store(waiting.name, std::memory_order_seq_cst);
        if (!waiting.enters()) return Turn::not_yet;
    }
    waiting.slot().store(0, std::memory_order_relaxed);
    if (!exclusive) let_readers_in(lane, ticket);
    return Turn::come;
}

// Once in, a reader lets the next one in if that is a reader, too.
void FairLock::let_readers_in(Lane& lane, uint16_t ticket) {
    uint64_t now = lock_.tickets.load(std::memory_order_relaxed);
    while (!lock_.tickets.compare_exchange_weak(now, with_readers(now), std::memory_order_seq_cst)) {
    }
    const auto next = static_cast<uint16_t>(ticket + 1);
    if (given(now) != next) wake(lane, next);
}

void FairLock::wake(Lane& lane, uint16_t ticket) {
    const uint16_t name = lock_.waiters[ticket % wire::lock_slots].load(std::memory_order_seq_cst);
    if (name != 0 && name <= lane.shm().segment().local_ranks())
        lane.shm().wake_if_asleep(static_cast<transport::Peer>(name - 1));
}

bool FairLock::rests(Lane& lane, uint16_t ticket) const {
    return lane.oversubscribed() &&
           lock_.waiters[ticket % wire::lock_slots].load(std::memory_order_seq_cst) != 0;
}

void Busy::await() {
    for (int looks = 0; word_.load(std::memory_order_relaxed) != 0 ||
                        word_.exchange(1, std::memory_order_acquire) != 0;) { // pairs with the release
        if (++looks % busy_looks == 0)
            os::yield_cpu();
        else
            os::cpu_relax();
    }
}

} // namespace zipmpi::proto::rma
