// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/frontend.hpp"

#include "launch/noded/descendants.hpp"
#include "launch/noded/noded.hpp"
#include "launch/placement/cpu_claims.hpp"
#include "launch/protocol/rank_environment.hpp"
#include "launch/protocol/scratch.hpp"
#include "launch/report/exit_report.hpp"
#include "launch/report/hang.hpp"

#include "bridge/settings.hpp"
#include "os/clock.hpp"
#include "os/host.hpp"
#include "os/random.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace zipmpi::launch {
namespace {

constexpr uint64_t ms = 1'000'000;
constexpr uint64_t patience = 1000 * ms;   // grace period between a signal of the user and SIGKILL
constexpr uint64_t cause_delay = 100 * ms; // wait for a more likely cause of a failure
constexpr int exit_timeout = 124;          // as timeout(1)
constexpr int exit_output_error = 74;      // as EX_IOERR of sysexits.h
constexpr uint32_t snapshot_now = 1, snapshot_watch = 2;

constexpr int handled[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGTSTP, SIGCHLD};

} // namespace

Frontend::Frontend(Options options, StartRequest request)
    : options_(std::move(options))
    , request_(std::move(request))
    , subtree_([this](uint32_t child, const ControlFrame& f) { on_frame(child, f); },
               [this](uint32_t child, bool was_connected, const Diagnostic& why) {
                   on_child_failed(child, was_connected, why);
               })
    , output_(request_.output, request_.world_size)
    , hang_watch_(options_.report_hang)
    , fault_sequencer_(request_.world_size, [this](const JobEvent& event) {
        subtree_.send_all(ControlFrameType::fault_event, encode(event));
    }) {
    reachability_.begin(request_);
}

bool Frontend::start_daemons(Diagnostic& why) {
    const auto nodes = static_cast<uint32_t>(request_.tree.hosts.size());
    if (nodes == 0) return start_local_daemon(why);
    JobKey key;
    if (!os::fill_random(key.data(), key.size())) {
        why = {"the key of the job cannot be created", "host " + os::host_name(),
               "the kernel returned no random bytes", "start the job again"};
        return false;
    }
    if (!subtree_.start_children(request_.tree, key, {0, nodes}, why)) return false;
    subtree_.mark_exempt_from_fence([this](NodeRange p) { return request_.map.has_ranks(p.node, p.end); });
    return true;
}

bool Frontend::start_local_daemon(Diagnostic& why) {
    int ends[2];
    const auto refuse = [&](const char* step) {
        why = {"the node daemon could not be started", "host " + os::host_name(),
               std::string(step) + ": " + std::strerror(errno),
               "raise the limits of processes and open files (ulimit -u, -n)"};
        return false;
    };
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return refuse("creating a socket pair");
    os::Fd parent_end(ends[0]);
    os::Fd daemon_end(ends[1]);
    const pid_t daemon = fork();
    if (daemon < 0) return refuse("creating a process");
    if (daemon == 0) {
        parent_end.reset();
        signals_.reset();
        _exit(noded_main(std::move(daemon_end), {}, nullptr));
    }
    subtree_.attach({}, std::move(parent_end), daemon);
    return true;
}

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
    if (!start_daemons(why)) {
        report(why, "mpiexec");
        subtree_.close();
        clean_up();
        return 1;
    }
    find_stdin_readers();
    subtree_.send_all(ControlFrameType::start, encode(request_));
    const uint64_t now = os::now_ns();
    if (options_.timeout > 0) timeout_at_ = now + static_cast<uint64_t>(options_.timeout * 1e9);
    if (options_.report_hang > 0) snapshot_at_ = now + hang_watch_.interval_ns();
    loop();
    clean_up();
    return interrupted_by_ != 0 && !failed_ ? 128 + interrupted_by_ : exit_code_;
}

int Frontend::wait_ms() const {
    uint64_t next = UINT64_MAX;
    for (const uint64_t at : {timeout_at_, kill_at_, snapshot_at_, drop_at_, stdin_retry_at_, failure_at_,
                              partition_deadline_, output_.next_time(), done_ ? 0 : subtree_.next_time()})
        if (at != 0) next = std::min(next, at);
    if (next == UINT64_MAX) return -1; // the daemon's exit, signals and frames wake the loop
    const uint64_t now = os::now_ns();
    return next <= now ? 0 : static_cast<int>(std::min<uint64_t>((next - now) / ms + 1, 1U << 30));
}

void Frontend::loop() {
    while (!done_ || !output_.empty()) {
        subtree_.pause(output_.full());
        const auto unless = [](bool wanted, int fd) { return wanted ? fd : -1; };
        pollfd p[5] = {{signals_.get(), POLLIN, 0},
                       {unless(!done_, subtree_.fd()), POLLIN, 0},
                       {unless(wants_stdin(), STDIN_FILENO), POLLIN, 0},
                       {output_.waiting_fd(0), POLLOUT, 0},
                       {output_.waiting_fd(1), POLLOUT, 0}};
        if (poll(p, 5, wait_ms()) < 0 && errno != EINTR) break;
        if (p[0].revents != 0) on_signals();
        if (p[1].revents != 0) subtree_.serve();
        if (p[2].revents != 0) on_stdin();
        output_.write_some();
        check_output();
        on_deadlines();
        subtree_.on_time();
        done_ = subtree_.all_finished();
        if (done_) output_.finish();
    }
}

// A closed pipe ends the job as it would end a program. Output lost for another reason is an error that must
// be reported: the job is ended, or, if only stderr is lost, the exit status shows it.
void Frontend::check_output() {
    if (output_.error(0) == EPIPE) {
        if (done_ || interrupted_by_ != 0) return;
        interrupted_by_ = SIGPIPE;
        subtree_.send_all(ControlFrameType::end_job);
        return;
    }
    if (output_.error(1) != 0 && output_.error(1) != EPIPE && exit_code_ == 0) exit_code_ = exit_output_error;
    const int error = output_.error(0);
    if (error == 0 || output_failed_) return;
    output_failed_ = true;
    print_diagnostic({"the output of the job could not be written; the job was terminated",
                      "standard output of mpiexec, host " + os::host_name(), std::strerror(error),
                      error == ENOSPC || error == EDQUOT
                          ? "free space there, or redirect the output"
                          : "check the destination of the standard output of mpiexec"});
    if (!failed_ && interrupted_by_ == 0) {
        failed_ = true;
        exit_code_ = exit_output_error;
    }
    if (!done_) subtree_.send_all(ControlFrameType::end_job);
}

void Frontend::on_frame(uint32_t child, const ControlFrame& f) {
    PayloadReader r(f.payload);
    switch (f.type) {
    case ControlFrameType::output:
        return output_.on_output(f.payload);
    case ControlFrameType::exit_codes:
        return output_.on_exit_codes(f.payload);
    case ControlFrameType::failure:
        return on_failure(f.payload);
    case ControlFrameType::job_event:
        return on_event(f.payload);
    case ControlFrameType::stdin_consumed: {
        const uint32_t node = r.u32();
        return stdin_.on_consumed(node, r.u64());
    }
    case ControlFrameType::stdin_closed:
        return stdin_.on_closed(r.u32());
    case ControlFrameType::snapshot:
        return on_snapshot(f.payload);
    case ControlFrameType::fence_in:
        fence_.add_child(child, f.payload);
        return forward_fences();
    case ControlFrameType::pmix_fence_in:
        pmix_fence_.add_child(child, f.payload);
        return forward_fences();
    case ControlFrameType::gateway_failed:
        reachability_.fail_gateway(r.u32());
        return on_gateways_failed(r.text());
    case ControlFrameType::ranks_finished:
        ranks_finished_.add_child(child, {});
        return end_gateways_when_finished();
    case ControlFrameType::done:
        end_gateways_when_finished();
        return forward_fences();
    case ControlFrameType::placement_text:
        return on_placement_text(f.payload);
    case ControlFrameType::kernel_info:
        return on_kernel_info(f.payload);
    case ControlFrameType::routed: {
        RoutedMessage m;
        RoutedMessage reply;
        if (!decode(f.payload, m)) return;
        if (!subtree_.has_failed(m.to))
            subtree_.send_to_node(m.to, ControlFrameType::routed, f.payload);
        else if (make_failed_reply(m, reply))
            subtree_.send_to_node(reply.to, ControlFrameType::routed, encode(reply));
        return;
    }
    default:
        return;
    }
}

// On several hosts a rank may exit because another was killed, and its message may arrive first.
void Frontend::on_failure(std::string_view payload) {
    Failure failure;
    if (!decode(payload, failure) || (failed_ && !failure_)) return;
    if (failure_ && !failure.by_signal) return;
    failed_ = true;
    const bool sure = failure.by_signal || request_.tree.hosts.size() < 2;
    failure_ = std::move(failure);
    if (sure)
        commit_failure();
    else
        failure_at_ = os::now_ns() + cause_delay;
}

// With --keep-going the exit of a rank is reported. It becomes the exit status of mpiexec if no rank is left,
// or if the rank exited by itself and not by a signal.
void Frontend::on_event(std::string_view payload) {
    JobEvent e;
    if (!decode(payload, e)) return;
    const bool fresh = e.kind == JobEvent::Kind::failed && !fault_sequencer_.has_failed(e.rank);
    fault_sequencer_.process(e);
    if (!fresh || interrupted_by_ != 0) return;
    output_.write_stderr(e.text);
    const bool all_failed = fault_sequencer_.failures() == request_.world_size;
    if (exit_code_ == 0 && (!e.by_signal || all_failed)) exit_code_ = static_cast<int>(e.exit_code);
}

void Frontend::commit_failure() {
    failure_at_ = 0;
    exit_code_ = static_cast<int>(failure_->exit_code);
    output_.write_stderr(failure_->text);
    failure_.reset();
    if (request_.tree.hosts.size() > 1)
        subtree_.send_all(ControlFrameType::end_job); // the other hosts have not been notified yet
}

void Frontend::forward_fences() {
    if (fence_.any() && fence_.has_all_children(subtree_))
        subtree_.send_all(ControlFrameType::fence_out, fence_.take());
    if (pmix_fence_.any() && pmix_fence_.has_all_children(subtree_))
        subtree_.send_all(ControlFrameType::pmix_fence_out, pmix_fence_.take());
}

// Gateways run until the last rank of the job has ended: they may carry frames between other clusters.
void Frontend::end_gateways_when_finished() {
    if (!request_.cluster_map.empty() && ranks_finished_.has_all_children(subtree_))
        subtree_.send_all(ControlFrameType::end_gateways);
}

// The job is not ended immediately: the ranks may finish without further inter-cluster traffic.
void Frontend::on_gateways_failed(const std::string& what) {
    const std::string partition = reachability_.find_partition();
    if (!partition.empty() && partition_deadline_ == 0)
        partition_deadline_ =
            os::now_ns() + static_cast<uint64_t>(bridge::partition_timeout_seconds()) * 1000 * ms + 1;
    output_.write_stderr("mpiexec: " + what + "; " +
                         (partition.empty() ? "the job continues over the others\n"
                                            : "no path is left between clusters " + partition + "\n"));
}

// Printed in the order of the nodes, when all have reported.
void Frontend::on_placement_text(std::string_view payload) {
    PayloadReader r(payload);
    const uint32_t node = r.u32();
    placement_texts_[node] = r.text();
    if (placement_texts_.size() < std::max<size_t>(request_.tree.hosts.size(), 1)) return;
    for (const auto& [number, text] : placement_texts_) output_.write_stdout(text);
    output_.write_stdout(reachability_.gateways_text());
    placement_texts_.clear();
}

// When all nodes have reported their machine, nodes that share one get their share of its cores.
void Frontend::on_kernel_info(std::string_view payload) {
    PayloadReader r(payload);
    NodeKernel k;
    k.node = r.u32();
    k.boot_id = r.text();
    k.cpus = r.numbers();
    if (!r.is_finished() || k.node >= request_.tree.hosts.size()) return;
    k.ranks = static_cast<uint32_t>(request_.map.ranks_of(k.node).size());
    kernels_.push_back(std::move(k));
    if (kernels_.size() < request_.map.nodes().size()) return;
    std::ranges::sort(kernels_, {}, &NodeKernel::node);
    for (const KernelShare& p : kernel_shares(kernels_)) {
        PayloadWriter w;
        subtree_.send_to_node(p.node, ControlFrameType::kernel_share,
                              w.u32(p.node).u32(p.first).u32(p.all).take());
    }
}

void Frontend::on_snapshot(std::string_view payload) {
    PayloadReader r(payload);
    const uint32_t id = r.u32();
    Snapshot part;
    if (!r.ok() || !decode(r.rest(), part)) return;
    Snapshot& all = snapshots_[id];
    all.insert(all.end(), part.begin(), part.end());
    if (all.size() < request_.world_size) return; // the other hosts have not replied yet
    Snapshot s = std::move(all);
    std::sort(s.begin(), s.end(),
              [](const RankSnapshot& a, const RankSnapshot& b) { return a.rank < b.rank; });
    snapshots_.erase(id);
    if (id == snapshot_now)
        output_.write_stderr(hang_report(s));
    else if (hang_watch_.feed(s, os::now_ns()))
        output_.write_stderr(hang_report(s, options_.report_hang));
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
        subtree_.send_all(ControlFrameType::request_snapshot, w.u32(snapshot_now).take());
        return;
    case SIGINT:
    case SIGTERM:
    case SIGHUP:
        return interrupt(signal);
    default:
        subtree_.send_all(ControlFrameType::signal, w.u32(static_cast<uint32_t>(signal)).take());
        if (signal == SIGTSTP) raise(SIGSTOP);
        return;
    }
}

void Frontend::interrupt(int signal) {
    if (interrupted_by_ != 0) { // second signal: no grace period
        subtree_.send_all(ControlFrameType::kill_job);
        drop_at_ = os::now_ns() + patience;
        return;
    }
    interrupted_by_ = signal;
    PayloadWriter w;
    subtree_.send_all(ControlFrameType::signal, w.u32(static_cast<uint32_t>(signal)).take());
    kill_at_ = os::now_ns() + patience;
    if (signal == SIGINT) return; // sent by the user at the terminal
    print_diagnostic(
        {"the job was terminated by " + signal_name(signal), "mpiexec, host " + os::host_name(),
         "a process sent this signal to mpiexec, for example the batch system at the job's time limit",
         "check the job's limits, or which process sent the signal"});
}

void Frontend::find_stdin_readers() {
    const OutputPolicy& policy = request_.output;
    stdin_open_ = request_.stdin_open && policy.stdin_for != OutputPolicy::Stdin::none;
    if (!stdin_open_) return;
    if (policy.stdin_for == OutputPolicy::Stdin::one)
        return stdin_.add_node(request_.map.node_of(policy.stdin_rank));
    for (const uint32_t node : request_.map.nodes()) stdin_.add_node(node);
}

bool Frontend::wants_stdin() const {
    return stdin_open_ && stdin_.has_readers() && stdin_.available() > 0 && !done_ && stdin_retry_at_ == 0;
}

void Frontend::send_stdin(ControlFrameType type, std::string_view bytes) {
    if (request_.output.stdin_for == OutputPolicy::Stdin::all) return subtree_.send_all(type, bytes);
    subtree_.send_to_node(request_.map.node_of(request_.output.stdin_rank), type, bytes);
}

void Frontend::on_stdin() {
    if (isatty(STDIN_FILENO) != 0 && tcgetpgrp(STDIN_FILENO) != getpgrp()) {
        stdin_retry_at_ = os::now_ns() + 500 * ms; // background process: the terminal is not available
        return;
    }
    static char buffer[StdinWindow::max_in_flight];
    const ssize_t n = read(STDIN_FILENO, buffer, stdin_.available());
    if (n > 0) {
        stdin_.on_sent(static_cast<size_t>(n));
        send_stdin(ControlFrameType::stdin_data, {buffer, static_cast<size_t>(n)});
    } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
        stdin_open_ = false;
        send_stdin(ControlFrameType::stdin_end, {});
    }
}

void Frontend::on_deadlines() {
    const uint64_t now = os::now_ns();
    const auto due = [&](uint64_t& at) { return at != 0 && now >= at && (at = 0, true); };
    due(stdin_retry_at_);
    output_.on_time(now);
    if (due(failure_at_) || (failure_ && subtree_.all_finished())) commit_failure();
    if (due(kill_at_)) {
        subtree_.send_all(ControlFrameType::kill_job);
        drop_at_ = now + patience;
    }
    if (due(drop_at_)) { // the output is not read: discard it
        output_.drop();
        drop_at_ = done_ ? 0 : now + patience;
    }
    if (due(snapshot_at_)) {
        PayloadWriter w;
        subtree_.send_all(ControlFrameType::request_snapshot, w.u32(snapshot_watch).take());
        snapshot_at_ = now + hang_watch_.interval_ns();
    }
    if (due(partition_deadline_) && !failed_ && !done_) {
        const std::string who = reachability_.find_partition();
        failed_ = true;
        exit_code_ = 1;
        print_diagnostic(
            {"clusters " + who + " are disconnected; the job was terminated",
             "mpiexec, host " + os::host_name(),
             "no path between them for " + std::to_string(bridge::partition_timeout_seconds()) +
                 " s (gateway.partition_timeout)",
             "see the messages about gateways above; add gateways, or raise gateway.partition_timeout"});
        subtree_.send_all(ControlFrameType::end_job);
    }
    if (!due(timeout_at_) || done_) return;
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%g s", options_.timeout);
    print_diagnostic({std::string("the job was terminated after ") + seconds,
                      "mpiexec, host " + os::host_name(),
                      "it was still running at the limit set by --timeout or MPIEXEC_TIMEOUT",
                      "raise the limit; to find what the ranks wait for, use --report-hang"});
    failed_ = true;
    exit_code_ = exit_timeout;
    subtree_.send_all(ControlFrameType::end_job);
    drop_at_ = now + 2 * patience;
}

void Frontend::reap() {
    int status = 0;
    for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) subtree_.on_reaped(pid, status);
}

void Frontend::on_child_failed(uint32_t child, bool was_connected, const Diagnostic& why) {
    const NodeRange range = subtree_.range(child);
    for (uint32_t node = range.node; node < range.end; ++node) stdin_.on_closed(node);
    if (reachability_.fail_nodes(range.node, range.end) && !failed_ && interrupted_by_ == 0) {
        end_gateways_when_finished();
        return on_gateways_failed("gateway host " + subtree_.host(child) + " has failed: " + why.why);
    }
    if (request_.keep_going && was_connected && interrupted_by_ == 0 && !failed_ &&
        !subtree_.all_finished()) {
        print_diagnostic(with_outcome(why, "its ranks count as failed"));
        JobEvent e;
        for (uint32_t node = range.node; node < range.end; ++node)
            for (const uint32_t rank : request_.map.ranks_of(node)) {
                e.rank = rank;
                fault_sequencer_.process(e);
            }
        return forward_fences();
    }
    subtree_.send_all(ControlFrameType::end_job);
    if (interrupted_by_ != 0 || (failed_ && !failure_)) return;
    failure_.reset();
    failure_at_ = 0;
    failed_ = true;
    exit_code_ = 1;
    print_diagnostic(with_outcome(why, "the job was terminated"));
}

void Frontend::print_diagnostic(const Diagnostic& p) { output_.write_stderr(format(p, "mpiexec")); }

// mpiexec is the subreaper of all remaining processes. Returns when no children are left, at the latest after
// 2 s.
void Frontend::clean_up() {
    const uint64_t until = os::now_ns() + 2 * patience;
    subtree_.close();
    while (done_ && !subtree_.pids().empty() && os::now_ns() < until - patience) {
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
