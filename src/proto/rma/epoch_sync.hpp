// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Synchronization of epochs with other members: MPI_Win_fence, and post, start, complete and wait.
//
// A barrier suffices for a fence if all operations complete in their call. Between hosts there are
// three methods:
//
//   acknowledged  flush of all targets, then a barrier
//   counted       reduce-scatter of batch counts; each member then waits for the batches sent to it. Needs no
//                 replies. A member that finishes early may continue: its batches carry the fence count and
//                 are deferred at members that are behind. Members of one node, which reach each other
//                 without batches, synchronize at the end.
//   notified      over RDMA: reduce-scatter of the numbers of batches and notifications (rdma_notices.hpp);
//                 each member waits for those sent to it, then a barrier, because the device of a member that
//                 is behind cannot defer operations. Flushes end meanwhile.
//
// Threads: under the lock of the progress engine.
#pragma once

#include "proto/rma/post_flags.hpp"
#include "proto/rma/target_table.hpp"
#include "proto/rma/window_policy.hpp"

#include <vector>

namespace zipmpi::proto::coll {
class Collective;
}

namespace zipmpi::proto::rma {

class AmPath;
class PendingOperations;
class RdmaNotices;
class WindowWaiter;

class EpochSync {
  public:
    EpochSync(const TargetTable& targets, WindowWaiter& waiter, PendingOperations& pending,
              WindowPolicy::Fence wanted)
        : targets_(targets)
        , waiter_(waiter)
        , pending_(pending)
        , wanted_(wanted) {}
    void use_am(AmPath& am) {
        am_ = &am;
        can_count_ = targets_.spans_hosts();
    }
    // RDMA operations cannot be deferred until the target has passed the fence.
    void acknowledge_fences() { can_count_ = false; }
    void use_notices(RdmaNotices& notices) { notices_ = &notices; }

    // Completes all operations on this member; no rank starts the next epoch before all have arrived.
    Err fence();

    void post_to(int origin);
    [[nodiscard]] bool await_post(int target);         // false: the target has failed
    void complete_to(const std::vector<int>& targets); // after all operations to them
    [[nodiscard]] bool all_completed(uint32_t origins) const {
        return targets_.own_member().completed.load(std::memory_order_seq_cst) >= origins;
    }
    // False: one of the origins has failed before it completed its epoch.
    [[nodiscard]] bool await_completes(const std::vector<int>& origins);
    // Success, or why an origin will not complete its epoch.
    [[nodiscard]] Err failure_of(const std::vector<int>& origins) const;
    void consume_completes(uint32_t origins) {
        targets_.own_member().completed.fetch_sub(origins, std::memory_order_seq_cst);
    }

    // Steps of a fence; the blocking and the nonblocking form (fence_sync.hpp) share them.
    enum class FenceMethod : uint8_t { barrier, acknowledged, counted, notified };
    [[nodiscard]] FenceMethod fence_method() const;
    // What the other members have sent to this one since the last fence.
    struct Expected {
        uint32_t batches = 0;
        uint32_t notices = 0; // notified only
    };
    // Counted, notified: sends all batches and notifications, and describes the reduce-scatter of their
    // numbers.
    void begin_counting(coll::Collective& c, std::vector<uint32_t>& counts, Expected& expected);
    [[nodiscard]] bool has_received(const Expected& expected) const;
    // After everything expected: tells the members on this node; returns the number of the fence.
    uint32_t pass_fence(const Expected& expected);
    // Notified: null otherwise.
    [[nodiscard]] RdmaNotices* notices() const { return notices_; }
    // All members on this node have passed the fence.
    [[nodiscard]] bool is_node_fenced(uint32_t fences) const;

  private:
    [[gnu::cold]] Err complete_and_fence();
    Err fence_by_counts();
    Err fence_by_notices();
    void notify_complete(int target);

    const TargetTable& targets_;
    WindowWaiter& waiter_;
    PendingOperations& pending_;
    WindowPolicy::Fence wanted_;
    AmPath* am_ = nullptr;           // null: all operations complete in their calls
    RdmaNotices* notices_ = nullptr; // null: not all devices keep the order of operations
    bool can_count_ = false;         // a fence may count batches
    uint32_t fences_ = 0;
};

} // namespace zipmpi::proto::rma
