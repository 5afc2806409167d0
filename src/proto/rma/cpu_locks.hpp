// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Locks of targets on this node, in the node segment (lock.hpp).
#pragma once

#include "proto/rma/lock.hpp"
#include "proto/rma/target_table.hpp"
#include "proto/rma/window_waiter.hpp"

namespace zipmpi::proto::rma {

class CpuLocks {
  public:
    CpuLocks(const TargetTable& targets, WindowWaiter& waiter)
        : targets_(targets)
        , waiter_(waiter) {}

    // Returns false if a member has failed and the lock cannot be acquired.
    bool lock(int rank, LockMode mode) {
        TicketRwLock l(targets_.member(rank).lock);
        const Operation& operation = waiter_.operation_to(rank);
        const bool locked = mode == LockMode::exclusive ? l.lock_exclusive(engine(), operation)
                                                        : l.lock_shared(engine(), operation);
        if (!locked) waiter_.on_lock_failed();
        return locked;
    }
    void unlock(int rank, LockMode mode) { TicketRwLock(targets_.member(rank).lock).unlock(engine(), mode); }

  private:
    [[nodiscard]] ProgressEngine& engine() const { return *targets_.team().engine; }

    const TargetTable& targets_;
    WindowWaiter& waiter_;
};

} // namespace zipmpi::proto::rma
