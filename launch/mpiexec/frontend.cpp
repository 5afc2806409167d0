// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/frontend.hpp"

#include "launch/mpiexec/start_daemons.hpp"
#include "launch/noded/descendants.hpp"
#include "launch/placement/cpu_claims.hpp"
#include "launch/protocol/deadline.hpp"
#include "launch/protocol/scratch.hpp"

#include "os/clock.hpp"

#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace zipmpi::launch {
namespace {

constexpr uint64_t clean_up_time = 2'000'000'000;        // ns
constexpr uint64_t time_for_daemons = clean_up_time / 2; // to exit by themselves
constexpr int handled[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGTSTP, SIGCHLD};

} // namespace

Frontend::Frontend(const Options& options, StartRequest request)
    : request_(std::move(request))
    , subtree_([this](uint32_t child, const ControlFrame& f) { on_frame(child, f); },
               [this](uint32_t child, ChildFailure how, const Diagnostic& why) {
                   on_child_failed(child, how, why);
               })
    , output_(request_.output, request_.world_size)
    , status_(request_, subtree_, output_)
    , views_(request_, subtree_)
    , hangs_(options.observation.report_hang, request_, subtree_, output_)
    , ending_(options.timeout, subtree_, output_, status_, hangs_.stacks())
    , stdin_(request_, subtree_)
    , placements_(request_, subtree_, output_)
    , clusters_(request_, subtree_, output_, status_)
    , processes_(request_)
    , fault_sequencer_(request_.world_size, [this](const JobEvent& event) {
        subtree_.send_all(ControlFrameType::fault_event, encode(event));
    }) {}

int Frontend::run() {
    sigset_t set;
    sigemptyset(&set);
    for (const int s : handled) sigaddset(&set, s);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); // exceeding a file size limit is an error of write()
    signal(SIGTTIN, SIG_IGN);
    signals_.reset(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    Diagnostic why;
    if (!start_daemons(request_, subtree_, signals_, why)) {
        report(why, "mpiexec");
        subtree_.close();
        clean_up();
        return 1;
    }
    stdin_.begin();
    subtree_.send_start(request_);
    ending_.begin();
    hangs_.begin();
    views_.begin();
    loop();
    clean_up();
    return status_.exit_status();
}

int Frontend::next_wait_ms() const {
    // The daemon's exit, signals and frames wake the loop, too.
    const uint64_t next = earliest({status_.next_time(), ending_.next_time(), hangs_.next_time(),
                                    views_.next_time(), stdin_.next_time(), clusters_.next_time(),
                                    output_.next_time(), status_.is_done() ? 0 : subtree_.next_time()});
    return wait_ms(next, os::now_ns());
}

void Frontend::loop() {
    while (!status_.is_done() || !output_.empty()) {
        output_.full() ? subtree_.pause() : subtree_.resume();
        const bool done = status_.is_done();
        const auto unless = [](bool wanted, int fd) { return wanted ? fd : -1; };
        pollfd p[6] = {{signals_.get(), POLLIN, 0},
                       {unless(!done, subtree_.fd()), POLLIN, 0},
                       {unless(!done && stdin_.wants_input(), STDIN_FILENO), POLLIN, 0},
                       {output_.waiting_fd(0), POLLOUT, 0},
                       {output_.waiting_fd(1), POLLOUT, 0},
                       {unless(!done, views_.fd()), POLLIN, 0}};
        if (poll(p, 6, next_wait_ms()) < 0 && errno != EINTR) break;
        if (p[0].revents != 0) on_signals();
        if (p[1].revents != 0) subtree_.serve();
        if (p[2].revents != 0) stdin_.on_readable();
        if (p[5].revents != 0) views_.serve();
        output_.write_some();
        status_.check_output();
        on_deadlines();
        subtree_.on_time();
        fault_sequencer_.announce_failures();
        status_.update();
        if (status_.is_done()) output_.finish();
    }
}

void Frontend::on_frame(uint32_t child, const ControlFrame& f) {
    switch (f.type) {
    case ControlFrameType::output:
        return output_.on_output(f.payload);
    case ControlFrameType::exit_codes:
        return output_.on_exit_codes(f.payload);
    case ControlFrameType::failure:
        return status_.on_failure(f.payload);
    case ControlFrameType::job_event:
        return on_event(f.payload);
    case ControlFrameType::stdin_consumed:
        return stdin_.on_consumed(f.payload);
    case ControlFrameType::stdin_closed:
        return stdin_.on_closed(PayloadReader(f.payload).u32());
    case ControlFrameType::snapshot:
        return hangs_.on_snapshot(f.payload);
    case ControlFrameType::stacks:
        return hangs_.stacks().on_stacks(f.payload);
    case ControlFrameType::view:
        return views_.on_view(f.payload);
    case ControlFrameType::fence_in:
        fence_.add_child(child, f.payload);
        return forward_fences();
    case ControlFrameType::pmix_fence_in:
        pmix_fence_.add_child(child, f.payload);
        return forward_fences();
    case ControlFrameType::gateway_failed:
        return clusters_.on_gateway_failed(f.payload);
    case ControlFrameType::ranks_finished:
        return clusters_.on_ranks_finished(child);
    case ControlFrameType::done:
        clusters_.end_gateways_when_finished();
        return forward_fences();
    case ControlFrameType::placement_text:
        return placements_.on_placement_text(f.payload, clusters_.reachability());
    case ControlFrameType::rank_pids:
        if (processes_.on_pids(f.payload) && request_.hold)
            subtree_.send_all(ControlFrameType::release_ranks, "");
        return;
    case ControlFrameType::kernel_info:
        return placements_.on_kernel_info(f.payload);
    case ControlFrameType::routed:
        return route(f.payload);
    default:
        return;
    }
}

void Frontend::route(std::string_view payload) {
    RoutedMessage m;
    RoutedMessage reply;
    if (!decode(payload, m)) return;
    if (!subtree_.has_failed(m.to))
        subtree_.send_to_node(m.to, ControlFrameType::routed, payload);
    else if (make_failed_reply(m, reply))
        subtree_.send_to_node(reply.to, ControlFrameType::routed, encode(reply));
}

// With --keep-going the exit of a rank is reported. It becomes the exit status of mpiexec if no rank is left,
// or if the rank exited by itself and not by a signal.
void Frontend::on_event(std::string_view payload) {
    JobEvent e;
    if (!decode(payload, e)) return;
    const uint32_t failures = fault_sequencer_.failures();
    fault_sequencer_.process(e);
    if (fault_sequencer_.failures() == failures || status_.is_interrupted()) return;
    output_.write_stderr(e.text);
    const bool all_failed = fault_sequencer_.failures() == request_.world_size;
    if (!e.by_signal || all_failed) status_.set_first_exit_code(static_cast<int>(e.exit_code));
}

void Frontend::forward_fences() {
    if (fence_.any() && fence_.has_all_children(subtree_))
        subtree_.send_all(ControlFrameType::fence_out, fence_.take());
    if (pmix_fence_.any() && pmix_fence_.has_all_children(subtree_))
        subtree_.send_all(ControlFrameType::pmix_fence_out, pmix_fence_.take());
}

void Frontend::on_signals() {
    signalfd_siginfo info{};
    while (read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info))
        on_signal(static_cast<int>(info.ssi_signo));
}

void Frontend::on_signal(int signal) {
    PayloadWriter w;
    switch (signal) {
    case SIGCHLD:
        return reap();
    case SIGQUIT:
        return hangs_.report_now();
    case SIGINT:
    case SIGTERM:
    case SIGHUP:
        return ending_.interrupt(signal);
    default:
        subtree_.send_all(ControlFrameType::signal, w.u32(static_cast<uint32_t>(signal)).take());
        if (signal == SIGTSTP) raise(SIGSTOP);
        return;
    }
}

void Frontend::on_deadlines() {
    const uint64_t now = os::now_ns();
    stdin_.on_time(now);
    output_.on_time(now);
    status_.on_time(now);
    ending_.on_time(now);
    hangs_.on_time(now);
    views_.on_time(now);
    clusters_.on_time(now);
    ending_.check_time_limit(now);
}

void Frontend::reap() {
    int status = 0;
    for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) subtree_.on_reaped(pid, status);
}

void Frontend::on_child_failed(uint32_t child, ChildFailure how, const Diagnostic& why) {
    const NodeRange range = subtree_.child(child).range;
    for (uint32_t node = range.node; node < range.end; ++node) stdin_.on_closed(node);
    if (clusters_.on_gateway_host_failed(child, why)) return;
    const bool continues = request_.keep_going && how == ChildFailure::lost && !status_.is_interrupted() &&
                           !status_.is_failed() && !subtree_.all_finished();
    if (!continues) return status_.on_daemon_lost(why);
    output_.write_diagnostic(with_outcome(why, "its ranks count as failed"));
    mark_ranks_failed(range);
    forward_fences();
}

void Frontend::mark_ranks_failed(NodeRange nodes) {
    JobEvent e;
    e.ranks = request_.map.ranks_of_nodes(nodes.node, nodes.end);
    fault_sequencer_.process(e);
}

// mpiexec is the subreaper of all remaining processes. Returns when no children are left, at the latest after
// 2 s.
void Frontend::clean_up() {
    const uint64_t until = os::now_ns() + clean_up_time;
    subtree_.close();
    while (status_.is_done() && !subtree_.pids().empty() && os::now_ns() < until - time_for_daemons) {
        reap();
        usleep(200);
    }
    while (os::now_ns() < until) {
        while (waitpid(-1, nullptr, WNOHANG) > 0) {
        }
        if (waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD) break;
        signal_descendants(SIGKILL, {});
        usleep(1000);
    }
    remove_scratch(request_.job_id);
    remove_unused_claims(claims_path());
}

} // namespace zipmpi::launch
