// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Phases of a job on this node: waiting for the start request, running, terminating (SIGTERM sent), killing
// (SIGKILL sent, waiting for the last process), draining (only bytes left to deliver).
#pragma once

#include "launch/noded/parent_link.hpp"
#include "launch/noded/rank_processes.hpp"
#include "launch/tree/subtree.hpp"

namespace zipmpi::launch {

class JobLifecycle {
  public:
    JobLifecycle(const NodeJob& job, ParentLink& parent, const Subtree& subtree, const RankProcesses& ranks)
        : job_(job)
        , parent_(parent)
        , subtree_(subtree)
        , ranks_(ranks) {}

    [[nodiscard]] bool is_waiting_for_start() const { return phase_ == Phase::waiting_for_start; }
    [[nodiscard]] bool is_running() const { return phase_ == Phase::running; }
    [[nodiscard]] bool is_ending() const { return phase_ >= Phase::terminating; }
    [[nodiscard]] bool is_killing() const { return phase_ == Phase::killing; }
    [[nodiscard]] bool is_draining() const { return phase_ == Phase::draining; }
    [[nodiscard]] bool is_failed() const { return failed_; }           // and reported to mpiexec
    [[nodiscard]] bool is_interrupted() const { return interrupted_; } // exits are not reported

    void begin_running() { phase_ = Phase::running; }
    void mark_interrupted() { interrupted_ = true; } // the user ends the job
    void give_finalized_time() { finalized_time_ = true; }
    // Reports the first failure to mpiexec, and ends the job.
    void fail(const Failure& failure);
    void fail(uint32_t rank, const Diagnostic& why, int exit_code);
    void end_job(); // SIGTERM, and SIGKILL after a grace period
    void kill_job();
    void kill_after(uint64_t ns);
    // Drains if no descendant is left; otherwise kills those that are.
    void try_draining();

    void extend_drain(); // a pipe may stay open for another second
    [[nodiscard]] bool is_drain_over(uint64_t now) const {
        return drain_deadline_ != 0 && now >= drain_deadline_;
    }
    void end_drain() { drain_deadline_ = 0; }
    void on_deadlines(uint64_t now);
    [[nodiscard]] uint64_t next_time(uint64_t now) const; // 0: none

  private:
    enum class Phase { waiting_for_start, running, terminating, killing, draining };
    enum class Skip { finalized, none };

    bool end_ranks(Skip skip);
    void end_finalized_ranks();
    [[nodiscard]] std::vector<pid_t> excluded_pids() const;
    [[nodiscard]] bool has_descendants() const;

    const NodeJob& job_;
    ParentLink& parent_;
    const Subtree& subtree_;
    const RankProcesses& ranks_;
    Phase phase_ = Phase::waiting_for_start;
    bool failed_ = false, interrupted_ = false;
    bool finalized_time_ = false; // finalized ranks get time to exit before SIGTERM
    uint64_t term_at_ = 0, kill_at_ = 0, drain_deadline_ = 0;
};

} // namespace zipmpi::launch
