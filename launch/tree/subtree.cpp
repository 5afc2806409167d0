// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/tree/subtree.hpp"

#include "launch/tree/child_ranges.hpp"

#include "boot/timeouts.hpp"
#include "launch/report/exit_report.hpp"
#include "launch/tree/agent.hpp"

#include "os/clock.hpp"
#include "os/host.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <sys/epoll.h>
#include <sys/socket.h>

namespace zipmpi::launch {
namespace {

constexpr uint64_t second = 1'000'000'000;
constexpr uint64_t connect_limit = 60 * second; // from the start of the agent to an authenticated connection

std::string disconnect_text(int error) {
    if (error == 0)
        return "its connection closed: the daemon was killed, it ran out of memory, or the host went "
               "down";
    return std::string("the connection between its zipmpi-noded and its parent broke (") +
           std::strerror(error) +
           "): a firewall, a router or an administrator (ss -K) cut it, or the daemon was killed";
}

Diagnostic disconnect_diagnostic(ChildDaemon& c) {
    if (c.connection->was_altered())
        return {"the connection to the node daemon is not secure", "host " + c.host, altered_text,
                altered_fix};
    const std::string output = c.take_agent_output();
    return {"the node daemon died", "host " + c.host,
            disconnect_text(c.connection->error()) + (output.empty() ? "" : "; its output: " + output),
            "check that the host is up, and its kernel log (dmesg); restart the job"};
}

// One line for the standard error of mpiexec, as daemons send them.
ControlFrame wait_notice(const std::string& host, const std::string& output) {
    PayloadWriter w;
    return {ControlFrameType::output, w.u32(2).u32(no_rank).take() + "mpiexec: waiting up to " +
                                          std::to_string(boot::host_wait_ns() / second) + " s for host " +
                                          host + (output.empty() ? "" : ": " + output) + "\n"};
}

} // namespace

Subtree::Subtree(OnFrame on_frame, OnFailed on_failed)
    : on_frame_(std::move(on_frame))
    , on_failed_(std::move(on_failed))
    , child_source_(loop_.add_source([this](uint32_t child, uint32_t events) { on_child(child, events); }))
    , agent_source_(
          loop_.add_source([this](uint32_t child, uint32_t) { children_[child].read_agent_stderr(); }))
    , acceptor_(loop_,
                [this](ChildAcceptor::Authenticated connected) { on_connected(std::move(connected)); }) {}

void Subtree::update_events(uint32_t child) {
    ChildDaemon& c = children_[child];
    if (!c.connection) return;
    const bool writes = c.connection->queued() > 0 && !c.connection->has_write_failed();
    const uint32_t events = (paused_ ? 0U : EPOLLIN) | (writes ? EPOLLOUT : 0U);
    if (events == 0)
        loop_.unwatch(c.connection->fd());
    else
        loop_.watch(c.connection->fd(), events, child_source_, child);
}

void Subtree::update_all_events() {
    for (uint32_t i = 0; i < children(); ++i) update_events(i);
}

void Subtree::attach(NodeRange range, os::Fd socket, pid_t pid) {
    ChildDaemon c;
    c.range = range;
    c.host = os::host_name();
    c.pid = pid;
    c.connection.emplace(std::move(socket), nullptr);
    children_.push_back(std::move(c));
    update_events(children() - 1);
}

bool Subtree::start_children(const LaunchTree& plan, const JobKey& secret, NodeRange nodes, Diagnostic& why) {
    network_ = true;
    if (!acceptor_.listen(plan, why)) return false;
    heartbeat_at_ = os::now_ns() + heartbeat_interval_ns;
    for (const NodeRange& range : child_ranges(plan, nodes)) {
        ChildDaemon c;
        c.range = range;
        c.host = plan.host(range.node);
        c.network = true;
        c.start = DaemonStart(plan, {c.range, secret, acceptor_.addresses(), plan.job_id});
        children_.push_back(std::move(c));
        if (!start_child(children() - 1, why)) return false;
    }
    return acceptor_.begin_handshakes(secret, why);
}

bool Subtree::start_child(uint32_t child, Diagnostic& why) {
    ChildDaemon& c = children_[child];
    Agent agent;
    if (!c.start.start(agent, why)) return false;
    c.pid = agent.pid;
    c.agent_output.clear();
    c.agent_stderr = std::move(agent.agent_stderr);
    c.connect_deadline = os::now_ns() + connect_limit;
    loop_.watch(c.agent_stderr.get(), EPOLLIN, agent_source_, child);
    return true;
}

void Subtree::serve() {
    loop_.wait(0);
    update_all_events();
}

// A second connection of a daemon, over another address, is ignored: the daemon uses the first one that
// replies.
void Subtree::on_connected(ChildAcceptor::Authenticated connected) {
    const auto child =
        std::ranges::find(children_, connected.node, [](const ChildDaemon& c) { return c.range.node; });
    if (child == children_.end() || child->connection || child->finished) return;
    const std::string& reply = connected.reply;
    if (send(connected.socket.get(), reply.data(), reply.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(reply.size()))
        return;
    child->connect(std::move(connected.socket), std::move(connected.records));
    update_events(static_cast<uint32_t>(child - children_.begin()));
    stop_accepting_when_complete();
}

void Subtree::stop_accepting_when_complete() {
    for (const ChildDaemon& c : children_)
        if (!c.connection && !c.finished) return;
    acceptor_.close();
}

void Subtree::on_child(uint32_t index, uint32_t events) {
    ChildDaemon& c = children_[index];
    if (!c.connection) return;
    if ((events & EPOLLOUT) != 0) c.connection->flush();
    if (paused_ || (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0) return;
    const bool alive = c.connection->receive();
    const Diagnostic lost = alive ? Diagnostic() : disconnect_diagnostic(c);
    if (c.connection->has_progressed()) c.last_received = os::now_ns();
    ControlFrame f;
    while (children_[index].connection && children_[index].connection->next(f)) {
        if (f.type == ControlFrameType::heartbeat) continue;
        if (f.type == ControlFrameType::done)
            children_[index].finished = true; // but it still serves the keys of its ranks
        on_frame_(index, f);
    }
    if (!alive) fail_child(index, lost);
}

void Subtree::send_start(const StartRequest& request) {
    for (ChildDaemon& c : children_) {
        c.exempt_from_fence = !request.map.has_ranks(c.range.node, c.range.end);
        c.send(ControlFrameType::start, encode(request, c.range.node, c.range.end));
    }
    update_all_events();
}

void Subtree::send_all(ControlFrameType type, std::string_view payload) {
    const bool ends_job = type == ControlFrameType::end_job || type == ControlFrameType::kill_job;
    for (uint32_t i = 0; i < children(); ++i) {
        if (ends_job && children_[i].start.retry_time() != 0) close_child(i); // its host does not answer
        if (ends_job) children_[i].start.finish();
        children_[i].send(type, payload);
    }
    update_all_events();
}

bool Subtree::send_to_node(uint32_t node, ControlFrameType type, std::string_view payload) {
    for (uint32_t i = 0; i < children(); ++i) {
        if (!children_[i].has_node(node)) continue;
        children_[i].send(type, payload);
        update_events(i);
        return true;
    }
    return false;
}

bool Subtree::has_failed(uint32_t node) const {
    return std::any_of(children_.begin(), children_.end(),
                       [&](const ChildDaemon& c) { return c.has_node(node) && c.finished && !c.connection; });
}

void Subtree::pause() {
    if (paused_) return;
    paused_ = true;
    restart_heartbeat_timeouts();
}

void Subtree::resume() {
    if (!paused_) return;
    paused_ = false;
    restart_heartbeat_timeouts();
}

// While reading is paused, heartbeats are not seen.
void Subtree::restart_heartbeat_timeouts() {
    for (ChildDaemon& c : children_) c.last_received = os::now_ns();
    update_all_events();
}

void Subtree::close() {
    for (ChildDaemon& c : children_) c.connection.reset();
    acceptor_.close();
}

bool Subtree::all_finished() const {
    return std::all_of(children_.begin(), children_.end(), [](const ChildDaemon& c) { return c.finished; });
}

std::vector<pid_t> Subtree::pids() const {
    std::vector<pid_t> all;
    for (const ChildDaemon& c : children_)
        if (c.pid > 0) all.push_back(c.pid);
    return all;
}

void Subtree::close_child(uint32_t child) {
    ChildDaemon& c = children_[child];
    c.finished = true;
    c.connection.reset();
    c.agent_stderr.reset();
    c.start.finish();
    stop_accepting_when_complete();
}

void Subtree::fail_child(uint32_t child, const Diagnostic& why) {
    const ChildDaemon& c = children_[child];
    const bool was_finished = c.finished;
    if (c.network && c.pid > 0) kill(c.pid, SIGKILL);
    close_child(child);
    if (!was_finished) on_failed_(child, ChildFailure::lost, why);
}

void Subtree::fail_start(uint32_t child, const std::string& why) {
    ChildDaemon& c = children_[child];
    const std::string output = c.take_agent_output();
    Diagnostic p{
        "the daemon of host " + c.host + " could not be started", "host " + os::host_name(),
        why + (output.empty() ? "" : "; its output: " + output),
        "check that the launch agent (--launch-agent, default ssh) reaches " + c.host +
            " without a password, and that ZipMPI is installed there: at the same path, in PATH, or at "
            "--prefix"};
    if (c.pid > 0) kill(c.pid, SIGKILL);
    close_child(child);
    on_failed_(child, ChildFailure::never_connected, p);
}

void Subtree::on_reaped(pid_t pid, int status) {
    for (uint32_t i = 0; i < children(); ++i) {
        ChildDaemon& c = children_[i];
        if (c.pid != pid) continue;
        c.pid = -1;
        // A connected daemon may have moved to the background; its connection shows when it ends.
        if (!c.network || c.connection || c.finished || status == 0) continue;
        const std::string output = c.take_agent_output();
        const DaemonStart::Next next = c.start.on_agent_exit(status, output, os::now_ns());
        if (next == DaemonStart::Next::fail)
            fail_start(i, "the launch agent exited before the daemon connected: " + exit_text(status));
        else if (next == DaemonStart::Next::first_to_retry)
            on_frame_(i, wait_notice(c.host, output));
    }
}

static std::string heartbeat_timeout_text() {
    char text[120];
    std::snprintf(text, sizeof text,
                  "no heartbeat for %.1f s: the host or the network is down, or the daemon is stopped",
                  static_cast<double>(boot::heartbeat_timeout_ns()) * 1e-9);
    return text;
}

uint64_t Subtree::next_time() const {
    const auto at_work = [](const ChildDaemon& c) { return !c.finished || c.connection; };
    if (!network_ || std::none_of(children_.begin(), children_.end(), at_work)) return 0;
    uint64_t next = std::min(heartbeat_at_, acceptor_.next_time());
    for (const ChildDaemon& c : children_) {
        if (c.network && c.connection && !paused_)
            next = std::min(next, c.last_received + boot::heartbeat_timeout_ns());
        if (c.start.retry_time() != 0) next = std::min(next, c.start.retry_time());
    }
    return next;
}

void Subtree::on_time() {
    if (!network_) return;
    const uint64_t now = os::now_ns();
    acceptor_.on_time(now);
    const bool heartbeat_due = now >= heartbeat_at_;
    const bool late = now > heartbeat_at_ + heartbeat_interval_ns; // this process was stopped: ignore the gap
    if (heartbeat_due) heartbeat_at_ = now + heartbeat_interval_ns;
    for (uint32_t i = 0; i < children(); ++i) {
        ChildDaemon& c = children_[i];
        if (!c.network || (c.finished && !c.connection)) continue;
        if (late || paused_) c.last_received = now;
        if (!c.connection) {
            const uint64_t retry = c.start.retry_time();
            Diagnostic why;
            if (retry == 0 && now >= c.connect_deadline)
                fail_start(i, "the daemon did not connect within 60 s");
            if (retry != 0 && now >= retry && !start_child(i, why)) fail_start(i, why.why);
            continue;
        }
        if (heartbeat_due) {
            c.connection->send(ControlFrameType::heartbeat);
            update_events(i);
        }
        if (now - c.last_received >= boot::heartbeat_timeout_ns())
            fail_child(i, {"the node daemon died", "host " + c.host, heartbeat_timeout_text(),
                           "check that host and its network; restart the job"});
    }
}

} // namespace zipmpi::launch
