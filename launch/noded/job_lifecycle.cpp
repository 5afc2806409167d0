// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/job_lifecycle.hpp"

#include "launch/noded/descendants.hpp"
#include "launch/protocol/deadline.hpp"

#include "os/clock.hpp"

#include <cerrno>
#include <csignal>
#include <sys/wait.h>

namespace zipmpi::launch {
namespace {

constexpr uint64_t finalize_timeout = 1'000'000'000; // ns from MPI_Finalize to the exit of the process
constexpr uint64_t term_to_kill = 300'000'000;       // ns of grace period between SIGTERM and SIGKILL
constexpr uint64_t reap_interval = 2'000'000;
constexpr uint64_t pipe_drain_timeout = 1'000'000'000; // ns that a process outside the job may hold a pipe

} // namespace

void JobLifecycle::fail(const Failure& failure) {
    if (failed_) return;
    failed_ = true;
    parent_.send(ControlFrameType::failure, encode(failure));
    end_job();
}

void JobLifecycle::fail(uint32_t rank, const Diagnostic& why, int exit_code) {
    fail({.rank = rank,
          .exit_code = static_cast<uint32_t>(exit_code),
          .by_signal = false,
          .text = format(why, "mpiexec")});
}

void JobLifecycle::end_job() {
    if (is_ending()) return;
    phase_ = Phase::terminating;
    const bool all = end_ranks(Skip::finalized);
    (all ? kill_at_ : term_at_) = os::now_ns() + (all ? term_to_kill : finalize_timeout);
}

// Sends SIGTERM to the ranks. Finalized ranks may still have to flush their buffers, so they are skipped at
// first. Returns false if a rank was skipped.
bool JobLifecycle::end_ranks(Skip skip) {
    std::vector<pid_t> leaders;
    std::vector<pid_t> left_out = subtree_.pids();
    bool all = true;
    for (uint32_t i = 0; i < ranks_.size(); ++i) {
        if (!ranks_[i].live) continue;
        const auto state =
            static_cast<wire::RankState>(job_.segment().block(i).state.load(std::memory_order_acquire));
        const bool waits =
            skip == Skip::finalized && (finalized_time_ || state == wire::RankState::finalized);
        (waits ? left_out : leaders).push_back(ranks_[i].pid);
        all = all && !waits;
    }
    signal_descendants(SIGTERM, leaders, left_out);
    return all;
}

void JobLifecycle::end_finalized_ranks() {
    term_at_ = 0;
    if (phase_ != Phase::terminating) return;
    end_ranks(Skip::none);
    kill_at_ = os::now_ns() + term_to_kill;
}

void JobLifecycle::kill_job() {
    kill_at_ = 0;
    if (phase_ >= Phase::killing) return;
    phase_ = Phase::killing;
    signal_descendants(SIGKILL, {}, excluded_pids());
}

void JobLifecycle::kill_after(uint64_t ns) { kill_at_ = os::now_ns() + ns; }

void JobLifecycle::try_draining() {
    if (has_descendants()) return signal_descendants(SIGKILL, {}, excluded_pids());
    phase_ = Phase::draining;
    extend_drain();
}

// Agents of daemons that still serve the keys of their ranks.
std::vector<pid_t> JobLifecycle::excluded_pids() const {
    return parent_.is_disconnected() ? std::vector<pid_t>() : subtree_.pids();
}

bool JobLifecycle::has_descendants() const {
    const std::vector<pid_t> agents = excluded_pids();
    if (!agents.empty()) return !descendants(agents).empty();
    int status = 0;
    return waitpid(-1, &status, WNOHANG) >= 0 || errno != ECHILD;
}

void JobLifecycle::extend_drain() { drain_deadline_ = os::now_ns() + pipe_drain_timeout; }

void JobLifecycle::on_deadlines(uint64_t now) {
    if (term_at_ != 0 && now >= term_at_) end_finalized_ranks();
    if (kill_at_ != 0 && now >= kill_at_) kill_job();
}

uint64_t JobLifecycle::next_time(uint64_t now) const {
    return earliest({term_at_, kill_at_, drain_deadline_, is_killing() ? now + reap_interval : 0});
}

} // namespace zipmpi::launch
