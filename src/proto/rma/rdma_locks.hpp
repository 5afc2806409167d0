// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Locks of targets by RDMA (network_lock.hpp): network locks, and the hybrid mode, in which the target's node
// may hold the lock. Local: the target is on this node; remote: on another one.
//
// Threads: under the lock of the progress engine.
#pragma once

#include "proto/rma/cpu_locks.hpp"
#include "proto/rma/rdma_connections.hpp"
#include "proto/rma/rdma_modes.hpp"

#include <vector>

namespace zipmpi::proto::rma {

class AmOrigin;
struct RemoteLockState;

class RdmaLocks {
  public:
    RdmaLocks(const RdmaModes& modes, const TargetTable& targets, RdmaConnections& connections,
              AmMessenger& messenger, AmOrigin& am, CpuLocks& cpu, WindowWaiter& waiter,
              DeferredError& failure);

    void count_migration();
    // Consecutive acquisitions before a hybrid lock migrates.
    [[nodiscard]] uint32_t handover_count() const { return handover_count_; }

    // Return false if the target, or a member that may hold the lock, has failed.
    bool lock_local(int rank, LockMode mode);
    bool lock_remote(int rank, LockMode mode);
    void unlock_local(int rank, LockMode mode);
    // After a flush. The release may be pending on return.
    void unlock_remote(int rank, LockMode mode);
    // Hybrid, with the exclusive lock of the node: the node has held the network lock as a reader and leaves
    // as one, by an RDMA atomic. Does not wait for its completion: the lock cannot be granted to a writer
    // before.
    void release_as_reader(int rank);

  private:
    // How this rank holds the lock of a member.
    struct MemberLock {
        enum class HeldAs : uint8_t { none, network, am, node } held_as = HeldAs::none;
        bool assume_network_lock = false; // hybrid: assumed location of the lock
        uint64_t ticket = 0;
        uint64_t release_words[2] = {}; // in use until the release is complete
    };
    [[nodiscard]] MemberLock& member(int rank) { return members_[static_cast<size_t>(rank)]; }
    bool lock_by_am(int rank, LockMode mode);
    bool lock_by_network(int rank, LockMode mode);
    bool await_turn(int rank, int endpoint, LockMode mode, RemoteLockState state);
    void request_from_node(int rank, LockMode mode);
    void begin_unlock_by_network(int rank, LockMode mode);
    void unlock_by_network(int rank, LockMode mode);
    void finish(int rank, int endpoint);

    const TargetTable& targets_;
    RdmaConnections& connections_;
    AmMessenger& messenger_;
    AmOrigin& am_;
    CpuLocks& cpu_;
    WindowWaiter& waiter_;
    DeferredError& failure_;
    bool hybrid_;
    uint32_t handover_count_;
    std::vector<MemberLock> members_;
    uint64_t discard_word_ = 0; // sink for unused fetch results
};

} // namespace zipmpi::proto::rma
