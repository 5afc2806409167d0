// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/daemon.hpp"
#include "launch/noded/descendants.hpp"
#include "launch/noded/noded.hpp"
#include "launch/protocol/scratch.hpp"

#include "os/clock.hpp"
#include "os/host.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

namespace zipmpi::launch {
namespace {

constexpr size_t pause_above = 1U << 20; // bytes queued for mpiexec above which reading from the ranks stops
constexpr size_t resume_below = 1U << 18;
constexpr uint64_t reap_interval = 2'000'000;
constexpr uint64_t never = UINT64_MAX;

uint64_t key_of(uint32_t source, uint32_t rank) { return uint64_t{source} << 32 | rank; }

} // namespace

int noded_main(os::Fd socket, NodeRange range, const JobKey* key) {
    setpgid(0, 0); // Ctrl-C at the terminal is for mpiexec, which forwards it
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_NAME, "zipmpi-noded");
    sigset_t taken;
    sigfillset(&taken);
    for (const int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&taken, s);
    sigprocmask(SIG_SETMASK, &taken, nullptr);
    const os::Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO}) dup2(null.get(), fd);
    return Daemon(std::move(socket), range, key).run();
}

Daemon::Daemon(os::Fd socket, NodeRange range, const JobKey* key)
    : parent_(std::move(socket))
    , range_(range)
    , network_(key != nullptr)
    , subtree_([this](uint32_t child, const ControlFrame& f) { on_child_frame(child, f); },
               [this](uint32_t child, bool was_connected, const Diagnostic& why) {
                   on_child_failed(child, was_connected, why);
               })
    , epoll_(epoll_create1(EPOLL_CLOEXEC))
    , output_epoll_(epoll_create1(EPOLL_CLOEXEC))
    , host_(os::host_name())
    , files_(host_) {
    if (key != nullptr) key_ = *key;
    if (network_) parent_last_received_ = heartbeat_at_ = os::now_ns();
    sigset_t set;
    sigemptyset(&set);
    for (const int s : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, s);
    signals_.reset(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    watch(epoll_.get(), parent_.fd(), EPOLLIN, Source::parent);
    watch(epoll_.get(), signals_.get(), EPOLLIN, Source::signals);
    watch(epoll_.get(), output_epoll_.get(), EPOLLIN, Source::outputs);
    watch(epoll_.get(), subtree_.fd(), EPOLLIN, Source::tree);
}

void Daemon::watch(int epoll, int fd, uint32_t events, Source source, uint32_t rank) {
    epoll_event e{};
    e.events = events;
    e.data.u64 = key_of(static_cast<uint32_t>(source), rank);
    if (epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &e) != 0) epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e);
}

int Daemon::wait_ms() const {
    uint64_t next = never;
    for (const uint64_t at : {term_at_, kill_at_, prompt_at_, drain_deadline_, heartbeat_at_, sample_at_,
                              update_lent_at_, subtree_.next_time(), next_restart()})
        if (at != 0) next = std::min(next, at);
    const uint64_t now = os::now_ns();
    if (phase_ == Phase::killing) next = std::min(next, now + reap_interval);
    if (next == never) return -1; // mpiexec, the ranks and SIGCHLD wake the loop
    return next <= now ? 0 : static_cast<int>((next - now) / 1'000'000 + 1);
}

int Daemon::run() {
    while (
        !(phase_ == Phase::draining && (parent_disconnected_ || parent_.queued() == 0) && open_pipes_ == 0))
        step();
    if (!file_scratch_.empty()) remove_scratch(scratch_name());
    if (request_.output.print_exit_codes) send_exit_codes();
    placement_.release_claims();
    parent_.send(ControlFrameType::done);
    // Ends when mpiexec has read it or has exited. In a multi-host job remote ranks may still request keys of
    // local ranks: mpiexec releases all daemons together by closing the connection.
    while (!parent_disconnected_ && (network_ || parent_.queued() > 0)) step();
    release_children();
    _exit(0); // not exit(): libpmix's threads and destructors have nothing left to do
}

void Daemon::step() {
    epoll_event events[64];
    const int n = epoll_wait(epoll_.get(), events, 64, wait_ms());
    for (int i = 0; i < n; ++i) serve(events[i].data.u64, events[i].events);
    if (!parent_.flush()) parent_disconnected_ = true;
    if (parent_disconnected_ && phase_ < Phase::killing) kill_job();
    throttle();
    on_deadlines();
    sample_traffic();
    update_lent_cpus();
    subtree_.on_time();
    if (network_) check_parent();
    finish_when_idle();
}

void Daemon::serve(uint64_t key, uint32_t events) {
    const auto rank = static_cast<uint32_t>(key);
    switch (static_cast<Source>(key >> 32)) {
    case Source::parent: {
        if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0) return;
        const bool alive = parent_.receive();
        if (network_) parent_last_received_ = os::now_ns();
        ControlFrame f;
        while (parent_.next(f)) on_frame(f);
        if (alive) return;
        parent_disconnected_ = true;
        epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, parent_.fd(), nullptr);
        return;
    }
    case Source::signals:
        return on_signals();
    case Source::outputs:
        return on_outputs();
    case Source::rank_stdin:
        if ((events & EPOLLERR) != 0) input_.drop(rank);
        return feed_stdin();
    case Source::pmi:
        return on_pmi(rank);
    case Source::pmix:
        return on_pmix();
    case Source::tree:
        return subtree_.serve();
    case Source::claims:
        return on_claims();
    default:
        return;
    }
}

void Daemon::on_frame(const ControlFrame& f) {
    PayloadReader r(f.payload);
    parent_suspended_ = false;
    if (f.type == ControlFrameType::end_job || f.type == ControlFrameType::kill_job ||
        f.type == ControlFrameType::signal || f.type == ControlFrameType::request_snapshot ||
        f.type == ControlFrameType::fence_out || f.type == ControlFrameType::pmix_fence_out ||
        f.type == ControlFrameType::fault_event || f.type == ControlFrameType::end_gateways)
        subtree_.send_all(f.type, f.payload);
    switch (f.type) {
    case ControlFrameType::start:
        return start(f.payload);
    case ControlFrameType::end_gateways:
        return end_gateways();
    case ControlFrameType::stdin_data:
    case ControlFrameType::stdin_end:
        return on_stdin(f);
    case ControlFrameType::end_job:
        interrupted_ = true;
        return end_job();
    case ControlFrameType::kill_job:
        interrupted_ = true;
        return kill_job();
    case ControlFrameType::request_snapshot: {
        PayloadWriter w;
        parent_.send(ControlFrameType::snapshot, w.u32(r.u32()).take() + encode(snapshot()));
        return;
    }
    case ControlFrameType::signal: {
        const int signal = static_cast<int>(r.u32());
        if (!r.ok() || signal <= 0 || signal >= NSIG) return;
        if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) interrupted_ = true;
        parent_suspended_ = signal == SIGTSTP;
        for (const RankProcess& rank : ranks_)
            if (rank.live) kill(-rank.pid, signal);
        return;
    }
    case ControlFrameType::fence_out:
        if (pmi_) pmi_->fence_done(f.payload);
        return;
    case ControlFrameType::pmix_fence_out:
        return pmix_fence_done(f.payload);
    case ControlFrameType::routed:
        return route(f);
    case ControlFrameType::kernel_share:
        return on_kernel_share(f);
    case ControlFrameType::fault_event: {
        JobEvent e;
        if (decode(f.payload, e)) on_fault_event(e);
        return;
    }
    default:
        return;
    }
}

void Daemon::on_signals() {
    signalfd_siginfo info{};
    bool children = false;
    while (read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
        if (info.ssi_signo == SIGCHLD) {
            children = true;
        } else if (network_ && phase_ == Phase::running && !interrupted_) {
            fail(0, 128 + info.ssi_signo,
                 format(describe_daemon_signal(static_cast<int>(info.ssi_signo)), "mpiexec"));
        } else {
            end_job();
        }
    }
    if (children) reap();
}

void Daemon::on_pmi(uint32_t local) {
    Process& r = process(local);
    char buffer[4096];
    for (;;) {
        const ssize_t n = recv(r.pmi.get(), buffer, sizeof buffer, 0);
        if (n > 0) {
            pmi_->feed(local, {buffer, static_cast<size_t>(n)});
            if (!is_rank(local)) report_gateway_restart(local);
            continue;
        }
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) break;
        r.pmi.reset(); // all copies of its end are closed
        return;
    }
    send_pmi(local, {});
}

void Daemon::send_pmi(uint32_t local, std::string_view bytes) {
    Process& r = process(local);
    r.pmi_out.append(bytes);
    while (r.pmi && !r.pmi_out.empty()) {
        const ssize_t n = send(r.pmi.get(), r.pmi_out.data(), r.pmi_out.size(), MSG_NOSIGNAL);
        if (n > 0) {
            r.pmi_out.erase(0, static_cast<size_t>(n));
        } else if (errno != EINTR) {
            break;
        }
    }
    if (r.pmi)
        watch(epoll_.get(), r.pmi.get(), r.pmi_out.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT, Source::pmi,
              local);
}

// While mpiexec is behind, the ranks' pipes fill up and the ranks block: memory stays bounded.
void Daemon::throttle() {
    const bool waiting = parent_.queued() > 0 && !parent_disconnected_;
    if (!parent_disconnected_)
        watch(epoll_.get(), parent_.fd(), waiting ? EPOLLIN | EPOLLOUT : EPOLLIN, Source::parent);
    if (!outputs_paused_ && parent_.queued() > pause_above && !parent_disconnected_) {
        epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, output_epoll_.get(), nullptr);
        outputs_paused_ = true;
        subtree_.pause(true);
    } else if (outputs_paused_ && (parent_.queued() < resume_below || parent_disconnected_)) {
        watch(epoll_.get(), output_epoll_.get(), EPOLLIN, Source::outputs);
        outputs_paused_ = false;
        subtree_.pause(false);
        if (phase_ == Phase::draining) drain_deadline_ = os::now_ns() + 1'000'000'000;
    }
}

void Daemon::on_deadlines() {
    const uint64_t now = os::now_ns();
    if (prompt_at_ != 0 && now >= prompt_at_) {
        prompt_at_ = 0;
        flush_prompt();
    }
    if (term_at_ != 0 && now >= term_at_) end_finalized_ranks();
    if (kill_at_ != 0 && now >= kill_at_) kill_job();
    restart_gateways();
    if (drain_deadline_ != 0 && now >= drain_deadline_ &&
        !outputs_paused_) { // a process outside the job holds the pipe
        for (uint32_t i = 0; i < processes(); ++i)
            for (int s = 0; s < 2; ++s) {
                if (!process(i).pipe[s]) continue;
                send_output(s, i, process(i).lines[s].flush());
                process(i).pipe[s].reset();
            }
        open_pipes_ = 0;
        drain_deadline_ = 0;
    }
}

} // namespace zipmpi::launch
