// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/nonblocking_sync.hpp"

#include "proto/p2p/progress_engine.hpp"
#include "proto/rma/lock_manager.hpp"
#include "proto/rma/target_table.hpp"

namespace zipmpi::proto::rma {

NonblockingSync::NonblockingSync(ProgressEngine& engine)
    : engine_(engine) {
    hook_.owner = this;
    hook_.poll = [](ProgressHook& hook) { return static_cast<Hook&>(hook).owner->poll(); };
}

NonblockingSync::~NonblockingSync() { engine_.hooks().remove(hook_); }

void NonblockingSync::start(std::function<void(Err)> on_end) {
    on_end_ = std::move(on_end);
    begin();
    if (run_stages()) return end();
    engine_.hooks().add(hook_);
}

bool NonblockingSync::run_stages() {
    while (is_stage_over())
        if (!next_stage()) return true;
    return false;
}

int NonblockingSync::poll() {
    if (!is_stage_over()) return 0;
    if (run_stages()) end();
    return 1;
}

void NonblockingSync::end() {
    engine_.hooks().remove(hook_);
    EngineLock& lock = engine_.engine_lock();
    const auto on_end = std::move(on_end_);
    on_end(error_); // may have destroyed this object
    lock.wake_waiters();
}

void FlushSync::begin() {
    for (const int rank : ranks_) marks_.push_back(pending_.begin_flush(rank));
}

UnlockSync::UnlockSync(const TargetTable& targets, LockManager& locks, PendingOperations& pending,
                       const std::vector<int>& ranks, LockMode mode)
    : NonblockingSync(*targets.team().engine)
    , locks_(locks)
    , pending_(pending)
    , mode_(mode) {
    for (const int rank : ranks) (targets.is_remote(rank) ? remote_ : local_).push_back(rank);
}

void UnlockSync::begin() {
    for (const int rank : local_) locks_.unlock(rank, mode_);
    if (pending_.uses_rdma())
        mark_all();
    else
        release();
}

void UnlockSync::mark_all() {
    marks_.clear();
    for (const int rank : remote_) marks_.push_back(pending_.begin_flush(rank));
}

void UnlockSync::release() {
    released_ = true;
    for (const int rank : remote_) locks_.begin_unlock(rank, mode_);
    mark_all();
}

bool UnlockSync::next_stage() {
    if (released_) return false;
    release();
    return true;
}

} // namespace zipmpi::proto::rma
