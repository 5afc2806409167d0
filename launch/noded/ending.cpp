// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/daemon.hpp"

#include "launch/noded/descendants.hpp"
#include "launch/report/death.hpp"
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
constexpr uint64_t time_to_end = 1'000'000'000; // from MPI_Finalize to the end of the process
constexpr uint64_t term_to_kill = 300'000'000;  // a moment to say goodbye
constexpr uint64_t farewell = 1'000'000'000;
} // namespace

void Daemon::reap() {
    std::vector<std::pair<uint32_t, int>> ended;
    int status = 0;
    for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        const auto it = by_pid_.find(pid);
        if (it == by_pid_.end()) { // an agent, or somebody's orphan
            spawned_.erase(pid);
            below_.reaped(pid, status);
            continue;
        }
        ended.emplace_back(it->second, status);
        by_pid_.erase(it);
    }
    // Ranks that were reaped together: the one hit by a signal is more likely the cause than one that exited.
    stable_sort(ended,
                [](const auto& a, const auto& b) { return WIFSIGNALED(a.second) > WIFSIGNALED(b.second); });
    for (const auto& [index, how] : ended)
        is_rank(index) ? on_rank_exit(index, how) : on_gateway_exit(index, how);
}

void Daemon::on_rank_exit(uint32_t local, int status) {
    Rank& r = ranks_[local];
    r.live = false;
    r.status = status;
    --live_;
    if (r.pmi) on_pmi(local); // it may have said that it aborts
    if (pmix_ != nullptr) on_pmix();
    if (!outputs_paused_) // its last words come before what we say about it
        for (int s = 0; s < 2; ++s)
            while (read_output(local, s)) {
            }
    if (phase_ == Phase::running) judge(local, status);
    pmi_->rank_ended(local);
}

Death Daemon::death_of(uint32_t local) const {
    Death d;
    d.rank = ranks_[local].world;
    d.world_size = request_.world_size;
    d.others_alive = alone() ? live_ - (ranks_[local].live ? 1 : 0) : request_.world_size - 1;
    d.host = host_;
    d.pid = ranks_[local].pid;
    d.wait_status = ranks_[local].status;
    d.program = request_.apps[ranks_[local].app].argv[0];
    d.place = read_place(segment_, local);
    d.last_call = newest_call(segment_, local);
    return d;
}

void Daemon::judge(uint32_t local, int status) {
    if (failed_ || interrupted_) return;
    const wire::RankBlock& block = segment_.block(local);
    const auto state = static_cast<wire::RankState>(block.state.load(std::memory_order_acquire));
    if (state == wire::RankState::aborted)
        return on_abort(local, block.abort_code.load(std::memory_order_relaxed), {});
    const bool inside = state == wire::RankState::running || pmi_->inside(local) || ranks_[local].pmix_inside;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && !inside) return;
    const auto code =
        static_cast<uint32_t>(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    Death death = death_of(local);
    if (request_.keep_going) {
        death.others_go_on = true;
        return report_failed(local, code == 0 ? 1 : code, format(describe(death), "mpiexec"),
                             WIFSIGNALED(status));
    }
    // MPI_Finalize is collective: where one rank has left it the others are on their way to their end, too.
    all_may_finish_ = state == wire::RankState::finalized && WIFEXITED(status);
    fail(local, code == 0 ? 1 : code, format(describe(death), "mpiexec"), WIFSIGNALED(status));
}

void Daemon::on_abort(uint32_t local, int exit_code, std::string_view text) {
    if (!is_rank(local)) return; // a gateway that gives up ends, and is started again
    if (failed_ || interrupted_) return;
    const auto code = static_cast<uint32_t>(exit_code) & 0xffU;
    const bool told = !abort_text(segment_, local).empty(); // the library has said all there is to say
    fail(local, code == 0 ? 1 : code,
         told ? std::string() : format(describe_abort(death_of(local), exit_code, text), "mpiexec"));
}

void Daemon::fail(uint32_t local, uint32_t exit_code, const std::string& text, bool by_signal) {
    if (failed_) return;
    failed_ = true;
    const uint32_t rank = local < ranks_.size() ? ranks_[local].world : 0;
    channel_.send(FrameType::failure, encode(Failure{rank, exit_code, by_signal, text}));
    end_job();
}

void Daemon::end_job() {
    if (phase_ >= Phase::ending) return;
    phase_ = Phase::ending;
    const bool all = end_ranks(false);
    (all ? kill_at_ : term_at_) = os::now_ns() + (all ? term_to_kill : time_to_end);
}

// SIGTERM to the ranks. Those that have finalized may still have to write what lies in their buffers: they
// are left out at first. False: somebody was.
bool Daemon::end_ranks(bool finalized_too) {
    std::vector<pid_t> leaders;
    std::vector<pid_t> left_out = below_.pids();
    bool all = true;
    for (uint32_t i = 0; i < ranks_.size(); ++i) {
        if (!ranks_[i].live) continue;
        const auto state =
            static_cast<wire::RankState>(segment_.block(i).state.load(std::memory_order_acquire));
        const bool waits = !finalized_too && (all_may_finish_ || state == wire::RankState::finalized);
        (waits ? left_out : leaders).push_back(ranks_[i].pid);
        all = all && !waits;
    }
    signal_descendants(SIGTERM, leaders, left_out);
    return all;
}

void Daemon::end_finalized_ranks() {
    term_at_ = 0;
    if (phase_ != Phase::ending) return;
    end_ranks(true);
    kill_at_ = os::now_ns() + term_to_kill;
}

void Daemon::kill_job() {
    kill_at_ = 0;
    if (phase_ >= Phase::killing) return;
    phase_ = Phase::killing;
    signal_descendants(SIGKILL, {}, spared());
}

// Agents of daemons that still answer for the keys of their ranks.
std::vector<pid_t> Daemon::spared() const { return front_gone_ ? std::vector<pid_t>() : below_.pids(); }

bool Daemon::nobody_left() const {
    const std::vector<pid_t> agents = spared();
    if (!agents.empty()) return descendants(agents).empty();
    int status = 0;
    return waitpid(-1, &status, WNOHANG) < 0 && errno == ECHILD;
}

// An mpiexec that a rank has started with MPI_Comm_spawn: after the rank it is a child of ours.
bool Daemon::spawned_runs() {
    std::erase_if(spawned_, [](pid_t pid) { return kill(pid, 0) != 0; });
    return !spawned_.empty() && !failed_;
}

// Moves on when the ranks are gone and the daemons below are done, then when every other descendant is gone.
void Daemon::finish_when_quiet() {
    if (phase_ == Phase::running && live_ == 0 && !request_.grid.empty()) say_ranks_over();
    if (phase_ == Phase::running && gateways_needed()) return;
    if (phase_ == Phase::running && live_ == 0 && spawned_runs()) return; // SIGCHLD wakes us
    if (!below_.all_over() && !front_gone_) return;
    if (phase_ == Phase::waiting_for_start || phase_ == Phase::draining || live_ > 0) {
        if (phase_ != Phase::killing) return;
    } else if (phase_ < Phase::killing) {
        kill_job();
    }
    reap();
    if (nobody_left()) {
        phase_ = Phase::draining;
        give_up_at_ = os::now_ns() + 1'000'000'000;
    } else {
        signal_descendants(SIGKILL, {}, spared());
    }
}

// The daemons below are let go and have a moment to leave, so that nothing is left when mpiexec ends.
void Daemon::let_go() {
    below_.close();
    const uint64_t until = os::now_ns() + farewell;
    while (!below_.pids().empty() && os::now_ns() < until) {
        reap();
        usleep(200);
    }
}

Snapshot Daemon::snapshot() const {
    Snapshot all;
    if (!segment_) return all;
    for (uint32_t i = 0; i < ranks_.size(); ++i) {
        all.push_back(read_place(segment_, i));
        if (ranks_[i].live) continue;
        all.back().life = Life::gone;
        all.back().end = ending_text(ranks_[i].status);
    }
    return all;
}

} // namespace zipmpi::launch
