// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/front.hpp"

#include "launch/link/environment.hpp"
#include "launch/link/scratch.hpp"
#include "launch/map/claims.hpp"
#include "launch/noded/descendants.hpp"
#include "launch/noded/noded.hpp"
#include "launch/report/death.hpp"
#include "launch/report/hang.hpp"

#include "boot/limits.hpp"
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
constexpr uint64_t patience = 1000 * ms;   // between a signal of the user and SIGKILL
constexpr uint64_t cause_delay = 100 * ms; // for a better explanation of a failure to come
constexpr int exit_timeout = 124;          // as timeout(1)
constexpr int exit_output_lost = 74;       // as EX_IOERR of sysexits.h
constexpr uint32_t snapshot_now = 1, snapshot_watch = 2;

constexpr int handled[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGTSTP, SIGCHLD};

} // namespace

Front::Front(Options options, StartRequest request)
    : options_(std::move(options))
    , request_(std::move(request))
    , below_([this](uint32_t child, const Frame& f) { on_frame(child, f); },
             [this](uint32_t child, bool had_come, const Problem& why) { on_lost(child, had_come, why); })
    , output_(request_.output, request_.world_size)
    , watch_(options_.report_hang)
    , consensus_(request_.world_size,
                 [this](const Event& news) { below_.send_all(FrameType::news, encode(news)); }) {
    grid_.begin(request_);
}

bool Front::start_daemons(Problem& why) {
    const auto nodes = static_cast<uint32_t>(request_.tree.hosts.size());
    if (nodes == 0) return start_daemon_here(why);
    JobKey key;
    if (!os::fill_random(key.data(), key.size())) {
        why = {"the key of the job cannot be made", "host " + os::host_name(),
               "the kernel gives no random bytes", "start the job again"};
        return false;
    }
    if (!below_.grow(request_.tree, key, {0, nodes}, why)) return false;
    below_.mark_quiet([this](NodePlace p) { return request_.map.has_ranks(p.node, p.end); });
    return true;
}

bool Front::start_daemon_here(Problem& why) {
    int ends[2];
    const auto refuse = [&](const char* step) {
        why = {"the node daemon could not be started", "host " + os::host_name(),
               std::string(step) + ": " + std::strerror(errno),
               "raise the limits of processes and open files (ulimit -u, -n)"};
        return false;
    };
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return refuse("making a socket pair");
    os::Fd mine(ends[0]);
    os::Fd theirs(ends[1]);
    const pid_t daemon = fork();
    if (daemon < 0) return refuse("making a process");
    if (daemon == 0) {
        mine.reset();
        signals_.reset();
        _exit(noded_main(std::move(theirs), {}, nullptr));
    }
    below_.adopt({}, std::move(mine), daemon);
    return true;
}

int Front::run() {
    sigset_t set;
    sigemptyset(&set);
    for (const int s : handled) sigaddset(&set, s);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); // a file that is too large is an error of write()
    signal(SIGTTIN, SIG_IGN);
    signals_.reset(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    Problem why;
    if (!start_daemons(why)) {
        report(why, "mpiexec");
        below_.close();
        clean_up();
        return 1;
    }
    find_stdin_readers();
    below_.send_all(FrameType::start, encode(request_));
    const uint64_t now = os::now_ns();
    if (options_.timeout > 0) timeout_at_ = now + static_cast<uint64_t>(options_.timeout * 1e9);
    if (options_.report_hang > 0) ask_at_ = now + watch_.interval_ns();
    loop();
    clean_up();
    return interrupted_by_ != 0 && !failed_ ? 128 + interrupted_by_ : exit_code_;
}

int Front::wait_ms() const {
    uint64_t next = UINT64_MAX;
    for (const uint64_t at : {timeout_at_, kill_at_, ask_at_, drop_at_, stdin_retry_at_, failure_at_,
                              cut_off_at_, output_.next_time(), done_ ? 0 : below_.next_time()})
        if (at != 0) next = std::min(next, at);
    if (next == UINT64_MAX) return -1; // the daemon's end, signals and its frames wake us
    const uint64_t now = os::now_ns();
    return next <= now ? 0 : static_cast<int>(std::min<uint64_t>((next - now) / ms + 1, 1U << 30));
}

void Front::loop() {
    while (!done_ || !output_.empty()) {
        below_.pause(output_.full());
        const auto unless = [](bool wanted, int fd) { return wanted ? fd : -1; };
        pollfd p[5] = {{signals_.get(), POLLIN, 0},
                       {unless(!done_, below_.fd()), POLLIN, 0},
                       {unless(wants_stdin(), STDIN_FILENO), POLLIN, 0},
                       {output_.waiting_fd(0), POLLOUT, 0},
                       {output_.waiting_fd(1), POLLOUT, 0}};
        if (poll(p, 5, wait_ms()) < 0 && errno != EINTR) break;
        if (p[0].revents != 0) on_signals();
        if (p[1].revents != 0) below_.serve();
        if (p[2].revents != 0) on_stdin();
        output_.write_some();
        check_output();
        on_deadlines();
        below_.on_time();
        done_ = below_.all_over();
        if (done_) output_.finish();
    }
}

// A closed pipe ends the job as it would end a program. Output that is lost for another reason is an error
// that the user must hear of: the job is ended, or, if only stderr is lost, the exit status tells.
void Front::check_output() {
    if (output_.error(0) == EPIPE) {
        if (done_ || interrupted_by_ != 0) return;
        interrupted_by_ = SIGPIPE;
        below_.send_all(FrameType::end_job);
        return;
    }
    if (output_.error(1) != 0 && output_.error(1) != EPIPE && exit_code_ == 0) exit_code_ = exit_output_lost;
    const int error = output_.error(0);
    if (error == 0 || output_lost_) return;
    output_lost_ = true;
    say({"the output of the job could not be written; the job was ended",
         "standard output of mpiexec, host " + os::host_name(), std::strerror(error),
         error == ENOSPC || error == EDQUOT ? "make room there, or send the output somewhere else"
                                            : "check where the standard output of mpiexec goes"});
    if (!failed_ && interrupted_by_ == 0) {
        failed_ = true;
        exit_code_ = exit_output_lost;
    }
    if (!done_) below_.send_all(FrameType::end_job);
}

void Front::on_frame(uint32_t child, const Frame& f) {
    Reader r(f.payload);
    switch (f.type) {
    case FrameType::output:
        return output_.on_output(f.payload);
    case FrameType::exit_codes:
        return output_.on_exit_codes(f.payload);
    case FrameType::failure:
        return on_failure(f.payload);
    case FrameType::event:
        return on_event(f.payload);
    case FrameType::stdin_taken: {
        const uint32_t node = r.u32();
        return stdin_.taken(node, r.u64());
    }
    case FrameType::stdin_closed:
        return stdin_.closed(r.u32());
    case FrameType::snapshot:
        return on_snapshot(f.payload);
    case FrameType::fence_in:
        fence_.add_child(child, f.payload);
        return pass_fence_on();
    case FrameType::pmix_fence_in:
        pmix_fence_.add_child(child, f.payload);
        return pass_fence_on();
    case FrameType::gateway_lost:
        grid_.lose_gateway(r.u32());
        return on_gateways_lost(r.text());
    case FrameType::ranks_over:
        ranks_over_.add_child(child, {});
        return end_gateways_when_over();
    case FrameType::done:
        end_gateways_when_over();
        return pass_fence_on();
    case FrameType::picture:
        return on_picture(f.payload);
    case FrameType::kernel:
        return on_kernel(f.payload);
    case FrameType::routed: {
        Routed m;
        Routed answer;
        if (!decode(f.payload, m)) return;
        if (!below_.has_lost(m.to))
            below_.send_to_node(m.to, FrameType::routed, f.payload);
        else if (answer_for_lost(m, answer))
            below_.send_to_node(answer.to, FrameType::routed, encode(answer));
        return;
    }
    default:
        return;
    }
}

// On several hosts a rank may give up because another was killed, and its message may be here first.
void Front::on_failure(std::string_view payload) {
    Failure failure;
    if (!decode(payload, failure) || (failed_ && !failure_)) return;
    if (failure_ && !failure.by_signal) return;
    failed_ = true;
    const bool sure = failure.by_signal || request_.tree.hosts.size() < 2;
    failure_ = std::move(failure);
    if (sure)
        take_failure();
    else
        failure_at_ = os::now_ns() + cause_delay;
}

// With --keep-going: what ends a rank is said, and becomes the exit status if nobody is left to do better, or
// if the rank itself has chosen it.
void Front::on_event(std::string_view payload) {
    Event e;
    if (!decode(payload, e)) return;
    const bool fresh = e.kind == Event::Kind::failed && !consensus_.has_failed(e.rank);
    consensus_.take(e);
    if (!fresh || interrupted_by_ != 0) return;
    output_.tell(e.text);
    const bool nobody_left = consensus_.failures() == request_.world_size;
    if (exit_code_ == 0 && (!e.by_signal || nobody_left)) exit_code_ = static_cast<int>(e.exit_code);
}

void Front::take_failure() {
    failure_at_ = 0;
    exit_code_ = static_cast<int>(failure_->exit_code);
    output_.tell(failure_->text);
    failure_.reset();
    if (request_.tree.hosts.size() > 1)
        below_.send_all(FrameType::end_job); // the other hosts do not know yet
}

void Front::pass_fence_on() {
    if (fence_.any() && fence_.all_below(below_)) below_.send_all(FrameType::fence_out, fence_.take());
    if (pmix_fence_.any() && pmix_fence_.all_below(below_))
        below_.send_all(FrameType::pmix_fence_out, pmix_fence_.take());
}

// Gateways live until the last rank of the job has ended: frames between other clusters may go through them.
void Front::end_gateways_when_over() {
    if (!request_.grid.empty() && ranks_over_.all_below(below_)) below_.send_all(FrameType::end_gateways);
}

// They are not needed for ever: ranks may end without speaking across again.
void Front::on_gateways_lost(const std::string& what) {
    const std::string cut = grid_.cut();
    if (!cut.empty() && cut_off_at_ == 0)
        cut_off_at_ = os::now_ns() + static_cast<uint64_t>(boot::grace_seconds()) * 1000 * ms + 1;
    output_.tell("mpiexec: " + what + "; " +
                 (cut.empty() ? "the job goes on over the others\n"
                              : "no way is left between clusters " + cut + "\n"));
}

// In the order of the nodes, when all are there.
void Front::on_picture(std::string_view payload) {
    Reader r(payload);
    const uint32_t node = r.u32();
    pictures_[node] = r.text();
    if (pictures_.size() < std::max<size_t>(request_.tree.hosts.size(), 1)) return;
    for (const auto& [number, text] : pictures_) output_.show(text);
    output_.show(grid_.picture());
    pictures_.clear();
}

// When all nodes have said which machine they are on, those that share one are told their part of it.
void Front::on_kernel(std::string_view payload) {
    Reader r(payload);
    NodeKernel k;
    k.node = r.u32();
    k.boot_id = r.text();
    k.cpus = r.numbers();
    if (!r.finished() || k.node >= request_.tree.hosts.size()) return;
    k.ranks = static_cast<uint32_t>(request_.map.ranks_of(k.node).size());
    kernels_.push_back(std::move(k));
    if (kernels_.size() < request_.map.nodes().size()) return;
    std::ranges::sort(kernels_, {}, &NodeKernel::node);
    for (const NodePart& p : parts_of(kernels_)) {
        Writer w;
        below_.send_to_node(p.node, FrameType::shared_kernel, w.u32(p.node).u32(p.first).u32(p.all).take());
    }
}

void Front::on_snapshot(std::string_view payload) {
    Reader r(payload);
    const uint32_t id = r.u32();
    Snapshot part;
    if (!r.ok() || !decode(r.rest(), part)) return;
    Snapshot& all = snapshots_[id];
    all.insert(all.end(), part.begin(), part.end());
    if (all.size() < request_.world_size) return; // the other hosts have not answered yet
    Snapshot s = std::move(all);
    std::sort(s.begin(), s.end(), [](const RankPlace& a, const RankPlace& b) { return a.rank < b.rank; });
    snapshots_.erase(id);
    if (id == snapshot_now)
        output_.tell(hang_report(s));
    else if (watch_.feed(s, os::now_ns()))
        output_.tell(hang_report(s, options_.report_hang));
}

void Front::on_signals() {
    signalfd_siginfo info{};
    while (read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info))
        on_signal(static_cast<int>(info.ssi_signo));
}

void Front::on_signal(int signal) {
    Writer w;
    switch (signal) {
    case SIGCHLD:
        return reap();
    case SIGQUIT:
        below_.send_all(FrameType::ask_snapshot, w.u32(snapshot_now).take());
        return;
    case SIGINT:
    case SIGTERM:
    case SIGHUP:
        return interrupt(signal);
    default:
        below_.send_all(FrameType::signal, w.u32(static_cast<uint32_t>(signal)).take());
        if (signal == SIGTSTP) raise(SIGSTOP);
        return;
    }
}

void Front::interrupt(int signal) {
    if (interrupted_by_ != 0) { // asked twice: no more patience
        below_.send_all(FrameType::kill_job);
        drop_at_ = os::now_ns() + patience;
        return;
    }
    interrupted_by_ = signal;
    Writer w;
    below_.send_all(FrameType::signal, w.u32(static_cast<uint32_t>(signal)).take());
    kill_at_ = os::now_ns() + patience;
    if (signal == SIGINT) return; // the user at the terminal knows
    say({"the job was ended by " + signal_name(signal), "mpiexec, host " + os::host_name(),
         "somebody sent this signal to mpiexec, for example the batch system at the end of the job's time",
         "check the job's limits, or who sent it"});
}

void Front::find_stdin_readers() {
    const OutputPolicy& policy = request_.output;
    stdin_open_ = request_.stdin_open && policy.stdin_for != OutputPolicy::Stdin::none;
    if (!stdin_open_) return;
    if (policy.stdin_for == OutputPolicy::Stdin::one)
        return stdin_.add_node(request_.map.node_of(policy.stdin_rank));
    for (const uint32_t node : request_.map.nodes()) stdin_.add_node(node);
}

bool Front::wants_stdin() const {
    return stdin_open_ && stdin_.anybody_reads() && stdin_.room() > 0 && !done_ && stdin_retry_at_ == 0;
}

void Front::send_stdin(FrameType type, std::string_view bytes) {
    if (request_.output.stdin_for == OutputPolicy::Stdin::all) return below_.send_all(type, bytes);
    below_.send_to_node(request_.map.node_of(request_.output.stdin_rank), type, bytes);
}

void Front::on_stdin() {
    if (isatty(STDIN_FILENO) != 0 && tcgetpgrp(STDIN_FILENO) != getpgrp()) {
        stdin_retry_at_ = os::now_ns() + 500 * ms; // in the background: the terminal is not ours now
        return;
    }
    static char buffer[StdinWindow::most];
    const ssize_t n = read(STDIN_FILENO, buffer, stdin_.room());
    if (n > 0) {
        stdin_.sent(static_cast<size_t>(n));
        send_stdin(FrameType::stdin_data, {buffer, static_cast<size_t>(n)});
    } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
        stdin_open_ = false;
        send_stdin(FrameType::stdin_end, {});
    }
}

void Front::on_deadlines() {
    const uint64_t now = os::now_ns();
    const auto due = [&](uint64_t& at) { return at != 0 && now >= at && (at = 0, true); };
    due(stdin_retry_at_);
    output_.on_time(now);
    if (due(failure_at_) || (failure_ && below_.all_over())) take_failure();
    if (due(kill_at_)) {
        below_.send_all(FrameType::kill_job);
        drop_at_ = now + patience;
    }
    if (due(drop_at_)) { // nobody takes our output, and nobody may wait for that any longer
        output_.drop();
        drop_at_ = done_ ? 0 : now + patience;
    }
    if (due(ask_at_)) {
        Writer w;
        below_.send_all(FrameType::ask_snapshot, w.u32(snapshot_watch).take());
        ask_at_ = now + watch_.interval_ns();
    }
    if (due(cut_off_at_) && !failed_ && !done_) {
        const std::string who = grid_.cut();
        failed_ = true;
        exit_code_ = 1;
        say({"clusters " + who + " cannot reach each other any more; the job was ended",
             "mpiexec, host " + os::host_name(),
             "the last way between them is lost, and the time of the knob bridge.grace is over",
             "look at the messages about gateways above; give the job more gateways, or more grace"});
        below_.send_all(FrameType::end_job);
    }
    if (!due(timeout_at_) || done_) return;
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%g s", options_.timeout);
    say({std::string("the job was ended after ") + seconds, "mpiexec, host " + os::host_name(),
         "it was still running when the time of --timeout or MPIEXEC_TIMEOUT was over",
         "give it more time; to see what it waits for, use --report-hang"});
    failed_ = true;
    exit_code_ = exit_timeout;
    below_.send_all(FrameType::end_job);
    drop_at_ = now + 2 * patience;
}

void Front::reap() {
    int status = 0;
    for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) below_.reaped(pid, status);
}

void Front::on_lost(uint32_t child, bool had_come, const Problem& why) {
    const NodePlace place = below_.place(child);
    for (uint32_t node = place.node; node < place.end; ++node) stdin_.closed(node);
    if (grid_.lose_nodes(place.node, place.end) && !failed_ && interrupted_by_ == 0) {
        end_gateways_when_over();
        return on_gateways_lost("gateway host " + below_.host(child) + " is lost: " + why.why);
    }
    if (request_.keep_going && had_come && interrupted_by_ == 0 && !failed_ && !below_.all_over()) {
        say(with_outcome(why, "its ranks count as failed"));
        Event e;
        for (uint32_t node = place.node; node < place.end; ++node)
            for (const uint32_t rank : request_.map.ranks_of(node)) {
                e.rank = rank;
                consensus_.take(e);
            }
        return pass_fence_on();
    }
    below_.send_all(FrameType::end_job);
    if (interrupted_by_ != 0 || (failed_ && !failure_)) return;
    failure_.reset();
    failure_at_ = 0;
    failed_ = true;
    exit_code_ = 1;
    say(with_outcome(why, "the job was ended"));
}

void Front::say(const Problem& p) { output_.tell(format(p, "mpiexec")); }

// Whatever is left is ours now: we are its subreaper. Ends when there are no children, at the latest after 2
// s.
void Front::clean_up() {
    const uint64_t until = os::now_ns() + 2 * patience;
    below_.close();
    while (done_ && !below_.pids().empty() && os::now_ns() < until - patience) {
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
