// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Nonblocking fences: of all members, by the methods of epoch_sync.hpp, and of neighbors.
//
// A fence of neighbors orders pairs of members only. Each member sends its neighbors a notification behind
// its operations, by the same path, and waits for theirs: one message per neighbor and direction, no
// collective.
//
// Threads: under the lock of the progress engine.
#pragma once

#include "proto/coll/collective.hpp"
#include "proto/rma/epoch_sync.hpp"
#include "proto/rma/nonblocking_sync.hpp"
#include "proto/rma/rdma_notices.hpp"

#include <optional>

namespace zipmpi::proto::rma {

class FenceSync final : public NonblockingSync {
  public:
    FenceSync(const TargetTable& targets, EpochSync& epochs, const WindowWaiter& waiter,
              PendingOperations& pending);
    [[nodiscard]] const Operation* pending_operation() const override {
        return collective_ ? collective_->pending_operation() : nullptr;
    }

  private:
    enum class Stage : uint8_t { flushing, barrier, counting, receiving, leaving, finishing };

    void begin() override;
    [[nodiscard]] bool is_stage_over() override;
    bool next_stage() override;
    void begin_barrier();
    // False if there is no further stage, because of an error.
    bool enter(Stage stage, Err error);

    const TargetTable& targets_;
    EpochSync& epochs_;
    const WindowWaiter& waiter_;
    PendingOperations& pending_;
    Stage stage_ = Stage::barrier;
    std::optional<coll::Collective> collective_;
    std::vector<PendingOperations::FlushMark> marks_; // acknowledged
    std::vector<uint32_t> counts_;                    // counted, notified
    EpochSync::Expected expected_;
    std::optional<RdmaContext::ArrivalWait> arrivals_; // notified
    bool notified_ = false;
    uint32_t number_ = 0; // of this fence
};

class NeighborFenceSync final : public NonblockingSync {
  public:
    // am: null if all operations complete in their calls.
    NeighborFenceSync(const Team& team, AmPath* am, const WindowWaiter& waiter, PendingOperations& pending,
                      std::vector<int> neighbors);
    [[nodiscard]] const Operation* pending_operation() const override;

  private:
    void begin() override;
    [[nodiscard]] bool is_stage_over() override;
    bool next_stage() override;
    void notify();
    [[nodiscard]] bool is_notified() const;
    [[nodiscard]] bool is_notified_by_all() const;

    const Team& team_;
    AmPath* am_;
    const WindowWaiter& waiter_;
    PendingOperations& pending_;
    std::vector<int> neighbors_;
    bool notified_ = false;           // the neighbors, by this rank
    std::vector<Operation> messages_; // without active messages: a send and a receive per neighbor
};

} // namespace zipmpi::proto::rma
