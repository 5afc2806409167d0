// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/lock_service.hpp"

#include "proto/rma/network_lock.hpp"
#include "proto/rma/rdma_locks.hpp"

namespace zipmpi::proto::rma {

// After enough consecutive requests a hybrid lock migrates to the network.
LockService::Result LockService::request(RequestedLock& lock, const wire::RmaRequest& head) {
    if (lock.held) return Result::invalid;
    const bool exclusive =
        head.kind == wire::RmaKind::lock_exclusive || head.kind == wire::RmaKind::yield_lock;
    const bool wants_lock = head.kind <= wire::RmaKind::lock_exclusive;
    if (!wants_lock && hybrid_ == nullptr) return Result::invalid;
    lock.wants_reply = hybrid_ != nullptr && wants_lock;
    lock.reply_id = head.id;
    lock.yields = hybrid_ != nullptr && !lock.wants_reply;
    if (lock.wants_reply) {
        HybridLockNode node_lock(targets_.own_member().network_lock);
        lock.yields = node_lock.count_request(hybrid_->handover_count());
    }
    return draw_ticket(lock, exclusive ? LockMode::exclusive : LockMode::shared);
}

LockService::Result LockService::draw_ticket(RequestedLock& lock, LockMode mode) {
    TicketRwLock l(targets_.own_member().lock);
    if (l.draw_ticket(mode, lock.ticket)) {
        lock.held = mode;
        return Result::granted;
    }
    lock.awaited = mode;
    return Result::waiting;
}

TicketRwLock::Turn LockService::poll(RequestedLock& lock) {
    TicketRwLock l(targets_.own_member().lock);
    const TicketRwLock::Turn turn = l.poll_turn(*targets_.team().engine, *lock.awaited, lock.ticket);
    if (turn == TicketRwLock::Turn::granted) lock.held = std::exchange(lock.awaited, std::nullopt);
    return turn;
}

std::optional<uint64_t> LockService::on_granted(RequestedLock& lock) {
    if (!lock.wants_reply && !lock.yields) return std::nullopt;
    const bool exclusive = lock.held == LockMode::exclusive;
    HybridLockNode node_lock(targets_.own_member().network_lock);
    if (exclusive && node_lock.is_open_to_readers())
        hybrid_->release_as_reader(targets_.team().rank);
    else if (exclusive && lock.yields && node_lock.holds()) {
        node_lock.yield();
        hybrid_->count_migration();
    } else if (lock.yields)
        node_lock.open_to_readers();
    const uint64_t got = node_lock.holds() && !lock.yields ? 1 : 0;
    if (got == 0) release(lock);
    return lock.wants_reply ? std::optional(got) : std::nullopt;
}

void LockService::release(RequestedLock& lock) {
    TicketRwLock l(targets_.own_member().lock);
    if (!std::exchange(lock.abandoned, false)) l.unlock(*targets_.team().engine, *lock.held);
    lock.held.reset();
}

} // namespace zipmpi::proto::rma
