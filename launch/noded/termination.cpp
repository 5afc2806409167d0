// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/daemon.hpp"

#include "launch/noded/descendants.hpp"
#include "launch/report/exit_report.hpp"
#include "launch/report/read_segment.hpp"

#include "base/stable_sort.hpp"
#include "os/clock.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace zipmpi::launch {
namespace {
constexpr uint64_t finalize_timeout = 1'000'000'000; // ns from MPI_Finalize to the exit of the process
constexpr uint64_t term_to_kill = 300'000'000;       // ns of grace period between SIGTERM and SIGKILL
constexpr uint64_t release_timeout = 1'000'000'000;
} // namespace

void Daemon::reap() {
    std::vector<std::pair<uint32_t, int>> ended;
    int status = 0;
    for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        const auto it = by_pid_.find(pid);
        if (it == by_pid_.end()) { // an agent, or an orphan
            spawned_.erase(pid);
            subtree_.on_reaped(pid, status);
            continue;
        }
        ended.emplace_back(it->second, status);
        by_pid_.erase(it);
    }
    // Of ranks that were reaped together the one killed by a signal is more likely the cause than one that
    // exited.
    stable_sort(ended,
                [](const auto& a, const auto& b) { return WIFSIGNALED(a.second) > WIFSIGNALED(b.second); });
    for (const auto& [index, how] : ended)
        is_rank(index) ? on_rank_exit(index, how) : on_gateway_exit(index, how);
}

void Daemon::on_rank_exit(uint32_t local, int status) {
    RankProcess& r = ranks_[local];
    r.live = false;
    r.status = status;
    --live_ranks_;
    if (r.pmi) on_pmi(local); // it may have called MPI_Abort
    if (pmix_ != nullptr) on_pmix();
    if (!outputs_paused_) // its last output comes before the report about it
        for (int s = 0; s < 2; ++s)
            while (read_output(local, s)) {
            }
    if (phase_ == Phase::running) classify_exit(local, status);
    pmi_->rank_ended(local);
}

RankExit Daemon::rank_exit_of(uint32_t local) const {
    RankExit d;
    d.rank = ranks_[local].world_rank;
    d.world_size = request_.world_size;
    d.others_alive = is_single_node() ? live_ranks_ - (ranks_[local].live ? 1 : 0) : request_.world_size - 1;
    d.host = host_;
    d.pid = ranks_[local].pid;
    d.wait_status = ranks_[local].status;
    d.program = request_.apps[ranks_[local].app].argv[0];
    d.snapshot = read_rank_snapshot(segment_, local);
    d.last_call = newest_call(segment_, local);
    return d;
}

void Daemon::classify_exit(uint32_t local, int status) {
    if (failed_ || interrupted_) return;
    const wire::RankBlock& block = segment_.block(local);
    const auto state = static_cast<wire::RankState>(block.state.load(std::memory_order_acquire));
    if (state == wire::RankState::aborted)
        return on_abort(local, block.abort_code.load(std::memory_order_relaxed), {});
    const bool inside =
        state == wire::RankState::running || pmi_->is_initialized(local) || ranks_[local].pmix_initialized;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && !inside) return;
    const auto code =
        static_cast<uint32_t>(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    RankExit exit_info = rank_exit_of(local);
    if (request_.keep_going) {
        exit_info.others_continue = true;
        return report_failed(local, code == 0 ? 1 : code, format(describe(exit_info), "mpiexec"),
                             WIFSIGNALED(status));
    }
    // MPI_Finalize is collective: once one rank has left it, the others are about to exit, too.
    grace_for_finalized_ = state == wire::RankState::finalized && WIFEXITED(status);
    fail(local, code == 0 ? 1 : code, format(describe(exit_info), "mpiexec"), WIFSIGNALED(status));
}

void Daemon::on_abort(uint32_t local, int exit_code, std::string_view text) {
    if (!is_rank(local)) return; // a gateway that gives up exits and is restarted
    if (failed_ || interrupted_) return;
    const auto code = static_cast<uint32_t>(exit_code) & 0xffU;
    const bool reported = !abort_text(segment_, local).empty(); // the library has reported the error
    fail(local, code == 0 ? 1 : code,
         reported ? std::string() : format(describe_abort(rank_exit_of(local), exit_code, text), "mpiexec"));
}

void Daemon::fail(uint32_t local, uint32_t exit_code, const std::string& text, bool by_signal) {
    if (failed_) return;
    failed_ = true;
    const uint32_t rank = local < ranks_.size() ? ranks_[local].world_rank : 0;
    parent_.send(ControlFrameType::failure, encode(Failure{rank, exit_code, by_signal, text}));
    end_job();
}

void Daemon::end_job() {
    if (phase_ >= Phase::terminating) return;
    phase_ = Phase::terminating;
    const bool all = end_ranks(false);
    (all ? kill_at_ : term_at_) = os::now_ns() + (all ? term_to_kill : finalize_timeout);
}

// Sends SIGTERM to the ranks. Finalized ranks may still have to flush their buffers, so they are skipped at
// first. Returns false if a rank was skipped.
bool Daemon::end_ranks(bool finalized_too) {
    std::vector<pid_t> leaders;
    std::vector<pid_t> left_out = subtree_.pids();
    bool all = true;
    for (uint32_t i = 0; i < ranks_.size(); ++i) {
        if (!ranks_[i].live) continue;
        const auto state =
            static_cast<wire::RankState>(segment_.block(i).state.load(std::memory_order_acquire));
        const bool waits = !finalized_too && (grace_for_finalized_ || state == wire::RankState::finalized);
        (waits ? left_out : leaders).push_back(ranks_[i].pid);
        all = all && !waits;
    }
    signal_descendants(SIGTERM, leaders, left_out);
    return all;
}

void Daemon::end_finalized_ranks() {
    term_at_ = 0;
    if (phase_ != Phase::terminating) return;
    end_ranks(true);
    kill_at_ = os::now_ns() + term_to_kill;
}

void Daemon::kill_job() {
    kill_at_ = 0;
    if (phase_ >= Phase::killing) return;
    phase_ = Phase::killing;
    signal_descendants(SIGKILL, {}, excluded_pids());
}

// Agents of daemons that still serve the keys of their ranks.
std::vector<pid_t> Daemon::excluded_pids() const {
    return parent_disconnected_ ? std::vector<pid_t>() : subtree_.pids();
}

bool Daemon::no_descendants_left() const {
    const std::vector<pid_t> agents = excluded_pids();
    if (!agents.empty()) return descendants(agents).empty();
    int status = 0;
    return waitpid(-1, &status, WNOHANG) < 0 && errno == ECHILD;
}

// An mpiexec that a rank has started with MPI_Comm_spawn: becomes a child of the daemon when the rank exits.
bool Daemon::has_spawned_jobs() {
    std::erase_if(spawned_, [](pid_t pid) { return kill(pid, 0) != 0; });
    return !spawned_.empty() && !failed_;
}

// Advances when the ranks have exited and the child daemons are done, then when every other descendant has
// exited.
void Daemon::finish_when_idle() {
    if (phase_ == Phase::running && live_ranks_ == 0 && !request_.cluster_map.empty()) send_ranks_finished();
    if (phase_ == Phase::running && are_gateways_needed()) return;
    if (phase_ == Phase::running && live_ranks_ == 0 && has_spawned_jobs()) return; // SIGCHLD wakes the loop
    if (!subtree_.all_finished() && !parent_disconnected_) return;
    if (phase_ == Phase::waiting_for_start || phase_ == Phase::draining || live_ranks_ > 0) {
        if (phase_ != Phase::killing) return;
    } else if (phase_ < Phase::killing) {
        kill_job();
    }
    reap();
    if (no_descendants_left()) {
        phase_ = Phase::draining;
        drain_deadline_ = os::now_ns() + 1'000'000'000;
    } else {
        signal_descendants(SIGKILL, {}, excluded_pids());
    }
}

// The child daemons are disconnected and get time to exit, so that nothing is left when mpiexec ends.
void Daemon::release_children() {
    subtree_.close();
    const uint64_t until = os::now_ns() + release_timeout;
    while (!subtree_.pids().empty() && os::now_ns() < until) {
        reap();
        usleep(200);
    }
}

Snapshot Daemon::snapshot() const {
    Snapshot all;
    if (!segment_) return all;
    for (uint32_t i = 0; i < ranks_.size(); ++i) {
        all.push_back(read_rank_snapshot(segment_, i));
        if (ranks_[i].live) continue;
        all.back().phase = RankPhase::exited;
        all.back().exit_reason = exit_text(ranks_[i].status);
    }
    return all;
}

} // namespace zipmpi::launch
