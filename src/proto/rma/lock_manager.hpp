// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// MPI_Win_lock and unlock: by CPU for a target on this node, by active message for a remote one, or by RDMA
// (rdma_locks.hpp).
//
// The lock of a remote target is requested along with the first operation and released along with the last,
// so an epoch without operations costs nothing. With RDMA it is acquired immediately: acquiring it at the
// first operation would mean waiting while holding other locks.
//
// Threads: under the lock of the progress engine.
#pragma once

#include "proto/rma/cpu_locks.hpp"

#include <memory>

namespace zipmpi::proto::rma {

class AmPath;
class DeferredError;
class PendingOperations;
class RdmaConnections;
class RdmaLocks;
struct RdmaModes;

class LockManager {
  public:
    LockManager(const TargetTable& targets, WindowWaiter& waiter, PendingOperations& pending);
    ~LockManager();
    LockManager(const LockManager&) = delete;
    LockManager& operator=(const LockManager&) = delete;

    void use_am(AmPath& am) { am_ = &am; }
    void use_rdma(const RdmaModes& modes, RdmaConnections& connections, DeferredError& failure);

    // Returns false if the target, or a member that may hold the lock, has failed.
    bool lock(int rank, LockMode mode) {
        if (targets_.is_remote(rank) || rdma_ != nullptr) [[unlikely]]
            return lock_not_by_cpu(rank, mode);
        return cpu_.lock(rank, mode);
    }
    void unlock(int rank, LockMode mode); // flushes
    // First half of unlock(), for several targets concurrently; a flush of all targets completes it.
    void begin_unlock(int rank, LockMode mode);
    void begin_unlock_all(LockMode mode);

  private:
    bool lock_not_by_cpu(int rank, LockMode mode);
    bool lock_remote(int rank, LockMode mode);
    void begin_unlock_remote(int rank, LockMode mode);

    const TargetTable& targets_;
    WindowWaiter& waiter_;
    PendingOperations& pending_;
    CpuLocks cpu_;
    AmPath* am_ = nullptr;            // null: no remote targets
    std::unique_ptr<RdmaLocks> rdma_; // null: locks do not use RDMA
    bool acquires_immediately_ = false;
};

} // namespace zipmpi::proto::rma
