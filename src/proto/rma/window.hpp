// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// RMA window: a memory region per member of a team, and the operations on them. Epochs are handled in core;
// here an operation is complete or in flight when its call returns.
//
// The components do the work; the window selects the access path of each operation (target.hpp). It is
// resolved at the first access to a target, in TargetTable::resolve_path(), and then fixed.
//
//   TargetTable      regions, access paths, state shared by members on one node
//   SharedPath, CmaPath, RdmaPath, AmPath   operations by access path
//   PendingOperations   completion of the operations that are pending after their calls
//   LockManager, EpochSync   synchronization with other members
//   AttachedRanges   memory of a dynamic window
//
// Threads: under the lock of the progress engine, except peek() and try_accumulate_contiguous().
#pragma once

#include "proto/rma/attached_ranges.hpp"
#include "proto/rma/cma_path.hpp"
#include "proto/rma/deferred_error.hpp"
#include "proto/rma/epoch_sync.hpp"
#include "proto/rma/fetch_op.hpp"
#include "proto/rma/lock_manager.hpp"
#include "proto/rma/pending_operations.hpp"
#include "proto/rma/shared_path.hpp"
#include "proto/rma/target_table.hpp"
#include "proto/rma/window_policy.hpp"
#include "proto/rma/window_waiter.hpp"

#include <memory>
#include <vector>

namespace zipmpi::proto::rma {

class AmPath;
class NonblockingSync;
class RdmaConnections;
class RdmaContext;
class RdmaNotices;
class RdmaPath;

class Window {
  public:
    // control: offset of the zeroed control block in the node segment. regions: of all members, valid until
    // use_shared_regions(). policy: equal on all members.
    Window(Team& team, uint64_t control, std::span<const Region> regions, const OpDecoder& decoder,
           const WindowPolicy& policy);
    ~Window();
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    // Collective, before any access: uses RDMA between hosts if all members have a device.
    Err use_rdma(RdmaContext& context);
    // See TargetTable.
    void use_mapped_block(std::byte* block) { targets_.use_mapped_block(block); }
    void share_regions() const { targets_.share_regions(); }
    void use_shared_regions() { targets_.use_shared_regions(); }

    // At least one target needs active messages.
    [[nodiscard]] bool needs_am();
    // The target without resolving its path.
    [[nodiscard]] Target& peek(int rank) { return targets_.peek(rank); }
    [[nodiscard]] Target& target(int rank) { return targets_.target(rank); }

    // Operations. `there` is in the target; its base is from Target::address_of(). The origin buffers may be
    // reused on return, except by RDMA: a contiguous origin buffer is in use until flush_local().
    Err put(int rank, const TypedBuffer& here, const TypedBuffer& there, FetchFactory& factory);
    Err get(int rank, const TypedBuffer& here, const TypedBuffer& there, FetchFactory& factory);
    // result.bytes == 0: nothing is fetched
    Err accumulate(int rank, const AccumulateOp& c, const TypedBuffer& here, const TypedBuffer& result,
                   const TypedBuffer& there, FetchFactory& factory);
    // Fast path for contiguous elements in a mapped target. Returns false if accumulate() is needed.
    bool try_accumulate_contiguous(int rank, const AccumulateOp& c, const std::byte* in, std::byte* fetched,
                                   std::byte* there, uint64_t bytes) const {
        const bool by_cpu = rdma_ == nullptr; // with RDMA even local memory may need RDMA atomics
        return by_cpu && shared_.try_accumulate_contiguous(rank, c, in, fetched, there, bytes);
    }
    Err compare_and_swap(int rank, const CompareSwapOp& s, const void* compare, const void* value,
                         void* fetched, std::byte* there, FetchFactory& factory);

    // Completion of operations to a target; see PendingOperations.
    void flush(int rank) { pending_.flush(rank); }
    void flush_all() { pending_.flush_all(); }
    void flush_local(int rank) { pending_.flush_local(rank); }
    void flush_local_all() { pending_.flush_local_all(); }
    // Ends pending operations on members that have failed; called after each notification of a failure.
    void fail_pending();
    // Success, or the failure of a member.
    [[nodiscard]] Err failure_of(int rank) const { return waiter_.failure_of(rank); }
    // Returns and clears the error of a pending operation.
    [[nodiscard]] Err take_failure() { return failure_.take(); }

    // Nonblocking synchronization, to be started by the caller.
    [[nodiscard]] std::unique_ptr<NonblockingSync> make_fence();
    [[nodiscard]] std::unique_ptr<NonblockingSync> make_neighbor_fence(std::vector<int> neighbors);
    [[nodiscard]] std::unique_ptr<NonblockingSync> make_flush(std::vector<int> ranks);
    [[nodiscard]] std::unique_ptr<NonblockingSync> make_unlock(const std::vector<int>& ranks, LockMode mode);

    [[nodiscard]] LockManager& locks() { return locks_; }
    [[nodiscard]] EpochSync& epochs() { return epochs_; }
    [[nodiscard]] AttachedRanges& attached() { return attached_; }

  private:
    void use_notices();

    const WindowPolicy policy_;
    TargetTable targets_;
    DeferredError failure_;
    WindowWaiter waiter_;
    AttachedRanges attached_;
    SharedPath shared_;
    CmaPath cma_;
    PendingOperations pending_;
    LockManager locks_;
    EpochSync epochs_;
    std::unique_ptr<RdmaConnections> connections_; // null: RDMA is not used
    std::unique_ptr<RdmaNotices> notices_;         // null: fences do not use them
    std::unique_ptr<RdmaPath> rdma_;               // null: RDMA is not used
    // Null: all targets are mapped. Last: its receivers call the components above until it is destroyed.
    std::unique_ptr<AmPath> am_;
};

} // namespace zipmpi::proto::rma
