// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/exit_monitor.hpp"

#include "launch/report/read_segment.hpp"

#include "base/stable_sort.hpp"

#include <csignal>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace zipmpi::launch {

ExitMonitor::ExitMonitor(const NodeJob& job, EventLoop& loop, Subtree& subtree, JobLifecycle& lifecycle,
                         RankProcesses& ranks, Services services)
    : job_(job)
    , subtree_(subtree)
    , lifecycle_(lifecycle)
    , ranks_(ranks)
    , services_(services) {
    sigset_t set;
    sigemptyset(&set);
    for (const int s : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, s);
    signals_.reset(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    loop.watch(signals_.get(), EPOLLIN, loop.add_source([this](uint32_t, uint32_t) { on_signals(); }));
}

void ExitMonitor::on_signals() {
    signalfd_siginfo info{};
    bool children = false;
    while (read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
        if (info.ssi_signo == SIGCHLD) {
            children = true;
        } else if (job_.is_networked() && lifecycle_.is_running() && !lifecycle_.is_interrupted()) {
            lifecycle_.fail(ranks_.world_rank(0), describe_signal(static_cast<int>(info.ssi_signo)),
                            static_cast<int>(128 + info.ssi_signo));
        } else {
            lifecycle_.end_job();
        }
    }
    if (children) reap();
}

// On its own host mpiexec gets such signals.
Diagnostic ExitMonitor::describe_signal(int signal) const {
    return {"the node daemon was terminated by " + signal_name(signal) + "; the job was terminated",
            "host " + job_.host(),
            "a process sent this signal to it or killed its guard, for example the batch system on that host",
            "check the job's limits on that host, or which process sent the signal"};
}

// The pid of a child that has ended and is not reaped yet; 0: none.
static pid_t ended_child() {
    siginfo_t info{};
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 ? info.si_pid : 0;
}

// Once reaped, the pid may become that of another process of the user, which other ranks must not access.
void ExitMonitor::withdraw_pid(uint32_t local) {
    if (job_.segment()) job_.segment().block(local).pid.store(0, std::memory_order_seq_cst);
}

void ExitMonitor::reap() {
    std::vector<std::pair<uint32_t, int>> ended;
    for (pid_t pid = 0; (pid = ended_child()) > 0;) {
        const auto local = ranks_.take_pid(pid);
        if (local) withdraw_pid(*local);
        int status = 0;
        if (waitpid(pid, &status, 0) != pid) continue;
        if (local) {
            ended.emplace_back(*local, status);
        } else if (const auto gateway = services_.gateways.find_pid(pid)) {
            ended.emplace_back(*gateway, status);
        } else { // an agent, or an orphan
            ranks_.remove_spawned_job(pid);
            subtree_.on_reaped(pid, status);
        }
    }
    // Of ranks that were reaped together the one killed by a signal is more likely the cause than one that
    // exited.
    stable_sort(ended,
                [](const auto& a, const auto& b) { return WIFSIGNALED(a.second) > WIFSIGNALED(b.second); });
    for (const auto& [client, how] : ended)
        job_.is_rank(client) ? on_rank_exit(client, how) : services_.gateways.on_exited(client, how);
}

void ExitMonitor::on_rank_exit(uint32_t local, int status) {
    ranks_.on_exited(local, status);
    services_.pmi.receive(local); // it may have called MPI_Abort
    services_.pmix.serve();
    if (!services_.outputs.is_paused()) // its last output comes before the report about it
        for (const OutputStream stream : {OutputStream::out, OutputStream::err})
            services_.outputs.read_all(local, stream);
    if (lifecycle_.is_running()) classify_exit(local, status);
    services_.pmi.server().rank_ended(local);
}

RankExit ExitMonitor::rank_exit_of(uint32_t local) const {
    const RankProcess& r = ranks_[local];
    RankExit d;
    d.rank = r.world_rank;
    d.world_size = job_.request().world_size;
    d.others_alive = job_.is_single_node() ? ranks_.live() - (r.live ? 1 : 0) : job_.request().world_size - 1;
    d.host = job_.host();
    d.pid = r.pid;
    d.wait_status = r.status;
    d.program = job_.request().apps[r.app].argv[0];
    d.snapshot = read_rank_snapshot(job_.segment(), local);
    d.last_call = newest_call(job_.segment(), local);
    return d;
}

void ExitMonitor::classify_exit(uint32_t local, int status) {
    if (lifecycle_.is_failed() || lifecycle_.is_interrupted()) return;
    const wire::RankBlock& block = job_.segment().block(local);
    const auto state = static_cast<wire::RankState>(block.state.load(std::memory_order_acquire));
    if (state == wire::RankState::aborted)
        return on_abort(local, block.abort_code.load(std::memory_order_relaxed), {});
    const bool inside = state == wire::RankState::running || services_.pmi.server().is_initialized(local) ||
                        services_.pmix.is_initialized(local);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && !inside) return;
    const auto code =
        static_cast<uint32_t>(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    RankExit exit_info = rank_exit_of(local);
    exit_info.others_continue = job_.request().keep_going;
    const Failure failure{.rank = exit_info.rank,
                          .exit_code = code == 0 ? 1 : code,
                          .by_signal = WIFSIGNALED(status),
                          .text = format(describe(exit_info), "mpiexec")};
    if (job_.request().keep_going) return services_.faults.report_failed(failure);
    // MPI_Finalize is collective: once one rank has left it, the others are about to exit, too.
    if (state == wire::RankState::finalized && WIFEXITED(status)) lifecycle_.give_finalized_time();
    lifecycle_.fail(failure);
}

void ExitMonitor::on_abort(uint32_t client, int exit_code, std::string_view text) {
    if (!job_.is_rank(client)) return; // a gateway that gives up exits and is restarted
    if (lifecycle_.is_failed() || lifecycle_.is_interrupted()) return;
    const auto code = static_cast<uint32_t>(exit_code) & 0xffU;
    const bool reported = !abort_text(job_.segment(), client).empty(); // the library has reported the error
    lifecycle_.fail({.rank = ranks_[client].world_rank,
                     .exit_code = code == 0 ? 1 : code,
                     .by_signal = false,
                     .text = reported
                                 ? std::string()
                                 : format(describe_abort(rank_exit_of(client), exit_code, text), "mpiexec")});
}

} // namespace zipmpi::launch
