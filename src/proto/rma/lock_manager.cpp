// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/lock_manager.hpp"

#include "proto/rma/am_path.hpp"
#include "proto/rma/pending_operations.hpp"
#include "proto/rma/rdma_locks.hpp"

namespace zipmpi::proto::rma {

LockManager::LockManager(const TargetTable& targets, WindowWaiter& waiter, PendingOperations& pending)
    : targets_(targets)
    , waiter_(waiter)
    , pending_(pending)
    , cpu_(targets, waiter) {}

LockManager::~LockManager() = default;

void LockManager::use_rdma(const RdmaModes& modes, RdmaConnections& connections, DeferredError& failure) {
    acquires_immediately_ = modes.put_get || modes.locks != RdmaModes::Locks::cpu;
    if (modes.locks == RdmaModes::Locks::cpu) return;
    rdma_ = std::make_unique<RdmaLocks>(modes, targets_, connections, am_->messenger(), am_->origin(), cpu_,
                                        waiter_, failure);
    if (modes.locks == RdmaModes::Locks::hybrid) am_->target().serve_hybrid_locks(*rdma_);
}

bool LockManager::lock_not_by_cpu(int rank, LockMode mode) {
    if (!targets_.is_remote(rank)) return rdma_->lock_local(rank, mode);
    if (acquires_immediately_) return lock_remote(rank, mode);
    am_->origin().queue_to(rank).lock_state = mode == LockMode::exclusive
                                                  ? TargetQueue::LockState::wanted_exclusive
                                                  : TargetQueue::LockState::wanted_shared;
    return true;
}

bool LockManager::lock_remote(int rank, LockMode mode) {
    TargetQueue& queue = am_->origin().queue_to(rank);
    queue.lock_state = TargetQueue::LockState::requested;
    if (rdma_ != nullptr) return rdma_->lock_remote(rank, mode);
    am_->origin().add(queue, {lock_request(mode)});
    pending_.flush(rank);
    return waiter_.failure_of(-1) == Err::success;
}

void LockManager::unlock(int rank, LockMode mode) {
    begin_unlock(rank, mode);
    if (targets_.is_remote(rank)) pending_.flush(rank);
}

void LockManager::begin_unlock(int rank, LockMode mode) {
    if (targets_.is_remote(rank)) return begin_unlock_remote(rank, mode);
    pending_.flush(rank);
    if (rdma_ != nullptr) return rdma_->unlock_local(rank, mode);
    cpu_.unlock(rank, mode);
}

// What a release waits for is completed for all targets at once.
void LockManager::begin_unlock_all(LockMode mode) {
    if (rdma_ != nullptr)
        pending_.flush_all();
    else
        pending_.flush_rdma_all();
    for (int r = 0; r < targets_.team().size; ++r) begin_unlock(r, mode);
}

void LockManager::begin_unlock_remote(int rank, LockMode mode) {
    AmOrigin& am = am_->origin();
    TargetQueue& queue = am.queue_to(rank);
    const bool holds_lock =
        std::exchange(queue.lock_state, TargetQueue::LockState::none) == TargetQueue::LockState::requested;
    if (holds_lock) pending_.flush_rdma(rank);
    if (holds_lock && rdma_ != nullptr) {
        pending_.flush(rank);
        return rdma_->unlock_remote(rank, mode);
    }
    if (holds_lock) am.add(queue, {wire::RmaKind::unlock});
    am.request_ack(queue);
}

} // namespace zipmpi::proto::rma
