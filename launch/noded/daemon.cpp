// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/daemon.hpp"

#include "launch/noded/noded.hpp"
#include "launch/protocol/deadline.hpp"

#include "os/clock.hpp"

#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace zipmpi::launch {
namespace {

constexpr size_t pause_above = 1U << 20; // bytes queued for mpiexec above which reading from the ranks stops
constexpr size_t resume_below = 1U << 18;
constexpr uint64_t release_timeout = 1'000'000'000;

// Frames of mpiexec for every daemon of the job.
bool is_for_all(ControlFrameType type) {
    switch (type) {
    case ControlFrameType::end_job:
    case ControlFrameType::kill_job:
    case ControlFrameType::signal:
    case ControlFrameType::request_snapshot:
    case ControlFrameType::fence_out:
    case ControlFrameType::pmix_fence_out:
    case ControlFrameType::fault_event:
    case ControlFrameType::end_gateways:
    case ControlFrameType::release_ranks:
    case ControlFrameType::request_stacks:
    case ControlFrameType::request_view:
        return true;
    default:
        return false;
    }
}

} // namespace

int noded_main(ParentConnection parent, NodeRange range, JobKey* secret) {
    setpgid(0, 0); // Ctrl-C at the terminal is for mpiexec, which forwards it
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_NAME, "zipmpi-noded");
    sigset_t taken;
    sigfillset(&taken);
    for (const int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&taken, s);
    sigprocmask(SIG_SETMASK, &taken, nullptr);
    const os::Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO}) dup2(null.get(), fd);
    return Daemon(std::move(parent), range, secret).run();
}

Daemon::Daemon(ParentConnection parent, NodeRange range, JobKey* secret)
    : job_(range, secret)
    , parent_(loop_, std::move(parent), [this](const ControlFrame& f) { on_frame(f); })
    , relay_(job_, loop_, parent_,
             {[this](uint32_t child, ChildFailure how, const Diagnostic& why) {
                  on_child_failed(child, how, why);
              },
              [this](const RoutedMessage& m) { on_routed(m); },
              [this](const JobEvent& e) { faults_.on_child_event(e); }})
    , lifecycle_(job_, parent_, relay_.subtree(), ranks_)
    , input_(job_, loop_, parent_, relay_.subtree())
    , outputs_(job_, loop_, parent_, lifecycle_, input_)
    , pmi_(job_, loop_, relay_,
           {[this](uint32_t client, int code, std::string_view text) { exits_.on_abort(client, code, text); },
            [this](uint32_t client, const PmiMessage& m) { on_notify(client, m); },
            [this](uint32_t client) { gateways_.report_recovery(client); }})
    , pmix_(job_, loop_, relay_, ranks_,
            [this](uint32_t local, int code, std::string_view text) { exits_.on_abort(local, code, text); })
    , faults_(job_, parent_, ranks_)
    , gateways_(job_, parent_, lifecycle_, pmi_, outputs_)
    , exits_(job_, loop_, relay_.subtree(), lifecycle_, ranks_, {pmi_, pmix_, outputs_, gateways_, faults_})
    , rebinder_(job_, loop_, parent_, lifecycle_, ranks_)
    , stacks_(job_, loop_, parent_, ranks_) {}

void Daemon::on_notify(uint32_t client, const PmiMessage& m) {
    if (m.get("what") != "remap") return faults_.on_notify(client, m);
    if (job_.is_rank(client)) rebinder_.remap();
}

int Daemon::next_wait_ms() const {
    const uint64_t now = os::now_ns();
    // mpiexec, the ranks and SIGCHLD wake the loop, too.
    const uint64_t next =
        earliest({lifecycle_.next_time(now), outputs_.next_time(), parent_.next_time(), rebinder_.next_time(),
                  rebinder_.binder().next_time(), relay_.subtree().next_time(), gateways_.next_time(),
                  stacks_.next_time()});
    return wait_ms(next, now);
}

int Daemon::run() {
    while (!(lifecycle_.is_draining() && (parent_.is_disconnected() || parent_.queued() == 0) &&
             outputs_.open_pipes() == 0))
        step();
    pmix_.remove_scratch_directories();
    if (job_.request().output.print_exit_codes) send_exit_codes();
    rebinder_.binder().release_claims();
    parent_.send(ControlFrameType::done);
    // Ends when mpiexec has read it or has exited. In a multi-host job remote ranks may still request keys of
    // local ranks: mpiexec releases all daemons together by closing the connection.
    while (!parent_.is_disconnected() && (job_.is_networked() || parent_.queued() > 0)) step();
    release_children();
    _exit(0); // not exit(): libpmix's threads and destructors have nothing left to do
}

void Daemon::step() {
    loop_.wait(next_wait_ms());
    parent_.flush();
    if (parent_.is_disconnected()) lifecycle_.kill_job();
    throttle();
    on_deadlines();
    rebinder_.sample();
    rebinder_.binder().update_lent_cpus();
    relay_.subtree().on_time();
    if (job_.request().hold) parent_.mark_suspended(); // a debugger may stop mpiexec at any time
    parent_.check_heartbeat();
    finish_when_idle();
}

void Daemon::on_frame(const ControlFrame& f) {
    PayloadReader r(f.payload);
    if (is_for_all(f.type)) relay_.subtree().send_all(f.type, f.payload);
    switch (f.type) {
    case ControlFrameType::start:
        return start(f.payload);
    case ControlFrameType::end_gateways:
        return gateways_.end_all();
    case ControlFrameType::stdin_data:
    case ControlFrameType::stdin_end:
        return input_.on_frame(f);
    case ControlFrameType::end_job:
        lifecycle_.mark_interrupted();
        return lifecycle_.end_job();
    case ControlFrameType::kill_job:
        lifecycle_.mark_interrupted();
        return lifecycle_.kill_job();
    case ControlFrameType::request_snapshot: {
        PayloadWriter w;
        return parent_.send(ControlFrameType::snapshot,
                            w.u32(r.u32()).take() + encode(ranks_.snapshot(job_.segment())));
    }
    case ControlFrameType::signal: {
        const int signal = static_cast<int>(r.u32());
        if (r.ok() && signal > 0 && signal < NSIG) on_signal_frame(signal);
        return;
    }
    case ControlFrameType::fence_out:
        return pmi_.fence_done(f.payload);
    case ControlFrameType::pmix_fence_out:
        return pmix_.fence_done(f.payload);
    case ControlFrameType::routed:
        return relay_.route(f.payload);
    case ControlFrameType::kernel_share:
        return on_kernel_share(f);
    case ControlFrameType::release_ranks:
        return job_.release_ranks();
    case ControlFrameType::request_stacks:
        return stacks_.on_request(f.payload);
    case ControlFrameType::request_view: {
        PayloadWriter w;
        return parent_.send(ControlFrameType::view,
                            w.u32(r.u32()).u32(job_.node()).take() + encode(ranks_.view(job_)));
    }
    case ControlFrameType::fault_event: {
        JobEvent e;
        if (!decode(f.payload, e) || !e.ranks.is_below(job_.request().world_size)) return;
        faults_.on_event(e);
        if (e.kind == JobEvent::Kind::failed)
            e.ranks.for_each([this](uint32_t rank) { pmi_.owner_failed(rank); });
        return;
    }
    default:
        return;
    }
}

void Daemon::on_signal_frame(int signal) {
    if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) lifecycle_.mark_interrupted();
    if (signal == SIGTSTP) parent_.mark_suspended();
    ranks_.signal_all(signal);
}

void Daemon::on_kernel_share(const ControlFrame& f) {
    PayloadReader r(f.payload);
    const uint32_t node = r.u32();
    if (node == job_.node()) return rebinder_.binder().on_kernel_share(r);
    relay_.subtree().send_to_node(node, f.type, f.payload);
}

void Daemon::on_routed(const RoutedMessage& m) {
    const bool for_pmix =
        m.kind == RoutedMessage::Kind::get_modex || m.kind == RoutedMessage::Kind::modex_reply;
    for_pmix ? pmix_.deliver(m) : pmi_.deliver(m);
}

void Daemon::on_child_failed(uint32_t child, ChildFailure how, const Diagnostic& why) {
    if (lifecycle_.is_failed() || lifecycle_.is_interrupted() || lifecycle_.is_ending()) return;
    if (job_.request().keep_going && how == ChildFailure::lost) {
        faults_.report_failed_nodes(relay_.subtree().child(child).range, why);
        return relay_.forward_fences();
    }
    lifecycle_.fail({.rank = ranks_.world_rank(0),
                     .exit_code = 1,
                     .by_signal = true,
                     .text = format(with_outcome(why, "the job was terminated"), "mpiexec")});
}

// While mpiexec is behind, the ranks' pipes fill up and the ranks block: memory stays bounded.
void Daemon::throttle() {
    parent_.update_events();
    if (!outputs_.is_paused() && parent_.queued() > pause_above && !parent_.is_disconnected()) {
        outputs_.pause();
        relay_.subtree().pause();
    } else if (outputs_.is_paused() && (parent_.queued() < resume_below || parent_.is_disconnected())) {
        outputs_.resume();
        relay_.subtree().resume();
        if (lifecycle_.is_draining()) lifecycle_.extend_drain();
    }
}

void Daemon::on_deadlines() {
    const uint64_t now = os::now_ns();
    outputs_.on_time(now);
    lifecycle_.on_deadlines(now);
    gateways_.restart_due();
    stacks_.on_time(now);
    if (!lifecycle_.is_drain_over(now)) return;
    if (outputs_.is_paused()) return lifecycle_.extend_drain(); // mpiexec is behind
    outputs_.close_pipes();
    lifecycle_.end_drain();
}

// Advances when the ranks have exited and the child daemons are done, then when every other descendant has
// exited.
void Daemon::finish_when_idle() {
    if (lifecycle_.is_running()) {
        const bool ranks_ended = ranks_.live() == 0;
        if (ranks_ended && !job_.request().cluster_map.empty()) relay_.report_ranks_finished();
        if (gateways_.are_needed()) return;
        // SIGCHLD wakes the loop when the mpiexec of a spawned job exits.
        if (ranks_ended && ranks_.has_spawned_jobs() && !lifecycle_.is_failed()) return;
    }
    if (!relay_.subtree().all_finished() && !parent_.is_disconnected()) return;
    if (lifecycle_.is_waiting_for_start() || lifecycle_.is_draining()) return;
    if (!lifecycle_.is_killing()) {
        if (ranks_.live() > 0) return;
        lifecycle_.kill_job();
    }
    exits_.reap();
    lifecycle_.try_draining();
}

// The child daemons are disconnected and get time to exit, so that nothing is left when mpiexec ends.
void Daemon::release_children() {
    relay_.subtree().close();
    const uint64_t until = os::now_ns() + release_timeout;
    while (!relay_.subtree().pids().empty() && os::now_ns() < until) {
        exits_.reap();
        usleep(200);
    }
}

void Daemon::send_exit_codes() {
    PayloadWriter w;
    parent_.send(ControlFrameType::exit_codes,
                 w.u32(job_.node()).text(job_.host()).numbers(ranks_.exit_codes()).take());
}

} // namespace zipmpi::launch
