// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A nonblocking synchronization of a window: a sequence of stages, polled in every progress call.
//
//   NonblockingSync   stages and their polling
//   FlushSync         MPIX_Win_iflush, MPIX_Win_iflush_all
//   UnlockSync        MPIX_Win_iunlock, MPIX_Win_iunlock_all
//   FenceSync, NeighborFenceSync   fence_sync.hpp
//
// A failed member ends a stage that waits for it; the error is that of the window (deferred_error.hpp).
//
// Threads: under the lock of the progress engine.
#pragma once

#include "proto/p2p/operation.hpp"
#include "proto/progress/progress_task.hpp"
#include "proto/rma/lock.hpp"
#include "proto/rma/pending_operations.hpp"

#include <functional>
#include <vector>

namespace zipmpi::proto {
class ProgressEngine;
}

namespace zipmpi::proto::rma {

class LockManager;
class TargetTable;

class NonblockingSync {
  public:
    explicit NonblockingSync(ProgressEngine& engine);
    virtual ~NonblockingSync();
    NonblockingSync(const NonblockingSync&) = delete;
    NonblockingSync& operator=(const NonblockingSync&) = delete;

    // on_end is called once, possibly in this call; it may destroy this object.
    void start(std::function<void(Err)> on_end);
    // A pending message for reports, or null.
    [[nodiscard]] virtual const Operation* pending_operation() const { return nullptr; }

  protected:
    // Begins the first stage.
    virtual void begin() = 0;
    [[nodiscard]] virtual bool is_stage_over() = 0;
    // Begins the next stage; false after the last one.
    virtual bool next_stage() = 0;
    void set_error(Err error) { error_ = error; }
    [[nodiscard]] ProgressEngine& engine() const { return engine_; }

  private:
    struct Hook : ProgressHook {
        NonblockingSync* owner = nullptr;
    };
    // Returns true after the last stage.
    bool run_stages();
    int poll();
    void end();

    ProgressEngine& engine_;
    Hook hook_;
    Err error_ = Err::success;
    std::function<void(Err)> on_end_;
};

// Completes the operations to some targets that were called before start().
class FlushSync final : public NonblockingSync {
  public:
    FlushSync(ProgressEngine& engine, PendingOperations& pending, std::vector<int> ranks)
        : NonblockingSync(engine)
        , pending_(pending)
        , ranks_(std::move(ranks)) {}

  private:
    void begin() override;
    [[nodiscard]] bool is_stage_over() override { return pending_.is_flushed(marks_); }
    bool next_stage() override { return false; }

    PendingOperations& pending_;
    std::vector<int> ranks_;
    std::vector<PendingOperations::FlushMark> marks_;
};

// Completes the operations to some targets and releases their locks. Targets on this node are released in
// start(); with RDMA a release follows the completion of the operations, otherwise it is sent along with
// them.
class UnlockSync final : public NonblockingSync {
  public:
    UnlockSync(const TargetTable& targets, LockManager& locks, PendingOperations& pending,
               const std::vector<int>& ranks, LockMode mode);

  private:
    void begin() override;
    [[nodiscard]] bool is_stage_over() override { return pending_.is_flushed(marks_); }
    bool next_stage() override;
    void mark_all();
    void release();

    LockManager& locks_;
    PendingOperations& pending_;
    std::vector<int> local_;
    std::vector<int> remote_;
    LockMode mode_;
    bool released_ = false;
    std::vector<PendingOperations::FlushMark> marks_;
};

} // namespace zipmpi::proto::rma
