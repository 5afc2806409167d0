// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/lock.hpp"

namespace zipmpi::proto::rma {
namespace {

// Polls before a yield; the lock is held for about the time of one copy.
constexpr int spins_per_yield = 100;

bool has_failed(const segment::NodeSegment& segment, uint32_t holder) {
    return holder <= segment.local_ranks() &&
           segment.block(holder - 1).state.load(std::memory_order_acquire) ==
               static_cast<uint32_t>(wire::RankState::failed);
}

} // namespace

struct TicketRwLock::Waiter {
    const TicketRwLock* lock;
    uint16_t ticket;
    LockMode mode;
    uint16_t waiter_id; // 1 + local index of this rank

    // The ticket whose turn it is.
    [[nodiscard]] uint16_t turn(uint64_t now) const {
        return mode == LockMode::exclusive ? writers(now) : readers(now);
    }
    // Number of earlier tickets; tickets wrap around.
    [[nodiscard]] uint16_t tickets_ahead() const {
        const uint64_t now = lock->lock_.tickets.load(std::memory_order_seq_cst);
        return static_cast<uint16_t>(ticket - turn(now));
    }
    // Returns true if the turn has come; takes a sleeping turn.
    [[nodiscard]] bool try_enter() const {
        uint64_t now = lock->lock_.tickets.load(std::memory_order_seq_cst);
        while (ticket == turn(now) && (now & overtaken) == 0)
            if ((now & sleeping_turn) == 0 || lock->lock_.tickets.compare_exchange_weak(
                                                  now, now ^ sleeping_turn, std::memory_order_seq_cst))
                return true;
        return false;
    }
    [[nodiscard]] std::atomic<uint16_t>& slot() const {
        return lock->lock_.waiters[ticket % wire::lock_slots];
    }
    // seq_cst, like the ticket word: either the releasing rank sees the id, or this check sees the turn.
    static bool final_check(void* waiter) {
        const auto& w = *static_cast<const Waiter*>(waiter);
        if (w.tickets_ahead() >= wire::lock_slots) { // the slot may belong to another ticket
            os::yield_cpu();
            return true;
        }
        w.slot().store(w.waiter_id, std::memory_order_seq_cst);
        return w.tickets_ahead() == 0 && !w.is_overtaken();
    }
    [[nodiscard]] bool is_overtaken() const {
        return (lock->lock_.tickets.load(std::memory_order_seq_cst) & overtaken) != 0;
    }
};

bool TicketRwLock::await(ProgressEngine& engine, uint16_t ticket, LockMode mode,
                         const Operation& wait_operation) {
    Waiter waiting{this, ticket, mode, static_cast<uint16_t>(engine.shm().self() + 1)};
    WaitInfo note = wait_info_of(wait_operation);
    note.final_check = Waiter::final_check;
    note.waiter = &waiting;
    note.serial_wakeup = true;
    bool entered = false;
    const auto has_failed_member = [&] {
        return engine.faults().comm_failure(wait_operation.context) != Err::success;
    };
    wait_until(
        engine, [&] { return entered || (entered = waiting.try_enter()) || has_failed_member(); }, note);
    waiting.slot().store(0, std::memory_order_relaxed);
    return entered;
}

bool TicketRwLock::await_exclusive(ProgressEngine& engine, uint16_t ticket, const Operation& wait_operation) {
    return await(engine, ticket, LockMode::exclusive, wait_operation);
}

bool TicketRwLock::await_shared(ProgressEngine& engine, uint16_t ticket, const Operation& wait_operation) {
    if (!await(engine, ticket, LockMode::shared, wait_operation)) return false;
    admit_readers(engine, ticket);
    return true;
}

TicketRwLock::Turn TicketRwLock::poll_turn(ProgressEngine& engine, LockMode mode, uint16_t ticket) {
    const Waiter waiting{this, ticket, mode, static_cast<uint16_t>(engine.shm().self() + 1)};
    if (!waiting.try_enter()) {
        if (waiting.tickets_ahead() >= wire::lock_slots) return Turn::unknown;
        waiting.slot().store(waiting.waiter_id, std::memory_order_seq_cst);
        if (!waiting.try_enter()) return Turn::waiting;
    }
    waiting.slot().store(0, std::memory_order_relaxed);
    if (mode == LockMode::shared) admit_readers(engine, ticket);
    return Turn::granted;
}

// An entered reader admits the next ticket if that is a reader, too.
void TicketRwLock::admit_readers(ProgressEngine& engine, uint16_t ticket) {
    uint64_t now = lock_.tickets.load(std::memory_order_relaxed);
    while (!lock_.tickets.compare_exchange_weak(now, with_readers(now), std::memory_order_seq_cst)) {
    }
    const auto next = static_cast<uint16_t>(ticket + 1);
    if (issued(now) != next) wake(engine, next);
}

void TicketRwLock::wake(ProgressEngine& engine, uint16_t ticket) {
    const uint16_t waiter_id_found = lock_.waiters[ticket % wire::lock_slots].load(std::memory_order_seq_cst);
    if (waiter_id_found != 0 && waiter_id_found <= engine.shm().segment().local_ranks())
        engine.shm().wake_if_asleep(static_cast<transport::Peer>(waiter_id_found - 1));
}

bool TicketRwLock::is_turn_sleeping(ProgressEngine& engine, uint16_t ticket) const {
    return engine.wait_tuning().oversubscribed() &&
           lock_.waiters[ticket % wire::lock_slots].load(std::memory_order_seq_cst) != 0;
}

void SpinGuard::await(const Holder& holder) {
    for (int spins = 1;; ++spins) {
        uint32_t found = word_.load(std::memory_order_relaxed);
        const bool yields = spins % spins_per_yield == 0;
        const bool is_free = found == 0 || (yields && has_failed(*holder.segment, found));
        // pairs with the release
        if (is_free && word_.compare_exchange_strong(found, holder.id, std::memory_order_acquire)) return;
        yields ? os::yield_cpu() : os::cpu_relax();
    }
}

} // namespace zipmpi::proto::rma
