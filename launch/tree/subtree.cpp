// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/tree/subtree.hpp"

#include "boot/timeouts.hpp"
#include "launch/report/exit_report.hpp"
#include "launch/tree/agent.hpp"

#include "os/clock.hpp"
#include "os/host.hpp"
#include "os/random.hpp"

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
constexpr uint64_t handshake_timeout = 2 * second; // from accept to authentication
constexpr size_t max_pending_children = 64;
constexpr size_t agent_stderr_limit = 2048;

uint64_t key_of(uint32_t source, uint32_t index) { return uint64_t{source} << 32 | index; }

constexpr const char* dmesg = "check that the host is up, and its kernel log (dmesg); restart the job";

std::string disconnect_text(int error) {
    if (error == 0)
        return "its connection closed: the daemon was killed, it ran out of memory, or the host went "
               "down";
    return std::string("the connection between its zipmpi-noded and its parent broke (") +
           std::strerror(error) +
           "): a firewall, a router or an administrator (ss -K) cut it, or the daemon was killed";
}

// Size of the first of `parts` almost equal ranges.
uint32_t first_part_size(uint32_t nodes, uint32_t parts) { return (nodes + parts - 1) / parts; }

// End of the range of the child that is the first of these nodes.
uint32_t child_range_end(const LaunchTree& plan, NodeRange nodes, uint32_t parts) {
    if (plan.parents.empty()) return nodes.node + first_part_size(nodes.end - nodes.node, parts);
    uint32_t end = nodes.node + 1;
    while (end < nodes.end && plan.parents[end] != plan.parents[nodes.node]) ++end;
    return end;
}

} // namespace

Subtree::Subtree(OnFrame on_frame, OnFailed on_failed)
    : on_frame_(std::move(on_frame))
    , on_failed_(std::move(on_failed))
    , epoll_(epoll_create1(EPOLL_CLOEXEC)) {}

void Subtree::watch(int fd, uint32_t events, Source source, uint32_t index) {
    epoll_event e{};
    e.events = events;
    e.data.u64 = key_of(static_cast<uint32_t>(source), index);
    if (events == 0)
        epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
    else if (epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &e) != 0)
        epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &e);
}

void Subtree::update_events(uint32_t child) {
    Child& c = children_[child];
    if (!c.connection) return;
    const bool writes = c.connection->queued() > 0 && !c.connection->has_write_failed();
    watch(c.connection->fd(), (paused_ ? 0U : EPOLLIN) | (writes ? EPOLLOUT : 0U), Source::child, child);
}

void Subtree::attach(NodeRange range, os::Fd socket, pid_t pid) {
    Child c;
    c.range = range;
    c.host = os::host_name();
    c.pid = pid;
    c.connection.emplace(std::move(socket));
    children_.push_back(std::move(c));
    update_events(children() - 1);
}

bool Subtree::start_children(const LaunchTree& plan, const JobKey& key, NodeRange nodes, Diagnostic& why) {
    network_ = true;
    key_ = key;
    pending_children_.resize(max_pending_children);
    if (!listen(plan, why)) return false;
    heartbeat_at_ = os::now_ns() + heartbeat_interval_ns;
    uint32_t node = nodes.node;
    for (uint32_t parts = std::min(plan.fanout, nodes.end - node);
         node<nodes.end; parts -= parts> 1 ? 1 : 0) {
        Child c;
        c.range = {node, child_range_end(plan, {node, nodes.end}, parts)};
        c.host = plan.hosts[node];
        c.network = true;
        c.connect_deadline = os::now_ns() + connect_limit;
        node = c.range.end;
        children_.push_back(std::move(c));
        if (!start_child(plan, key, children_.back(), why)) return false;
        watch(children_.back().agent_stderr.get(), EPOLLIN, Source::agent_stderr, children() - 1);
    }
    return true;
}

bool Subtree::listen(const LaunchTree& plan, Diagnostic& why) {
    for (SocketAddress& e : local_addresses(plan.interface)) {
        os::Fd s = listen_on(e);
        if (!s) continue;
        watch(s.get(), EPOLLIN, Source::listener, static_cast<uint32_t>(listeners_.size()));
        listeners_.push_back(std::move(s));
        addresses_.push_back(e);
    }
    if (!listeners_.empty()) return true;
    why = {"no address of this host is available for listening", "host " + os::host_name(),
           plan.interface.empty() ? "no network interface is up, not even the loopback one"
                                  : "the interface " + plan.interface + " is not up or does not exist",
           plan.interface.empty() ? "bring one up (ip link set lo up)"
                                  : "set another interface with --launch-interface; `ip address` lists them"};
    return false;
}

bool Subtree::start_child(const LaunchTree& plan, const JobKey& key, Child& child, Diagnostic& why) {
    Agent agent;
    std::string input = encode(Bootstrap{child.range, key, addresses_, plan.job_id});
    const bool ok = start_agent(plan, child.range.node, input, agent, why);
    explicit_bzero(input.data(), input.size());
    if (!ok) return false;
    child.pid = agent.pid;
    child.agent_stderr = std::move(agent.agent_stderr);
    return true;
}

void Subtree::serve() {
    epoll_event events[64];
    const int n = epoll_wait(epoll_.get(), events, 64, 0);
    for (int i = 0; i < n; ++i) {
        const auto index = static_cast<uint32_t>(events[i].data.u64);
        switch (static_cast<Source>(events[i].data.u64 >> 32)) {
        case Source::listener:
            on_listener(index);
            break;
        case Source::pending_child:
            on_pending_child(index);
            break;
        case Source::child:
            on_child(index, events[i].events);
            break;
        case Source::agent_stderr:
            on_agent_stderr(children_[index]);
            break;
        }
    }
    for (uint32_t i = 0; i < children(); ++i) update_events(i);
}

// When all slots are taken, the oldest unauthenticated connection is closed: a daemon needs only a moment.
void Subtree::on_listener(uint32_t listener) {
    if (listener >= listeners_.size()) return;
    os::Fd s(accept4(listeners_[listener].get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    Nonce nonce;
    if (!s || !os::fill_random(nonce.data(), nonce.size())) return;
    auto slot = std::min_element(pending_children_.begin(), pending_children_.end(),
                                 [](const PendingChild& a, const PendingChild& b) {
                                     return (a.socket ? a.deadline : 0) < (b.socket ? b.deadline : 0);
                                 });
    *slot = {std::move(s), HandshakeAcceptor(key_, nonce), os::now_ns() + handshake_timeout};
    tune_socket(slot->socket.get());
    const std::string opening = slot->handshake->take_output();
    if (::send(slot->socket.get(), opening.data(), opening.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(opening.size()))
        return slot->socket.reset();
    watch(slot->socket.get(), EPOLLIN, Source::pending_child,
          static_cast<uint32_t>(slot - pending_children_.begin()));
}

void Subtree::on_pending_child(uint32_t index) {
    if (index >= pending_children_.size() || !pending_children_[index].socket) return;
    PendingChild& s = pending_children_[index];
    char buffer[sizeof(HandshakeResponse)];
    const ssize_t n = recv(s.socket.get(), buffer, std::min(sizeof buffer, s.handshake->bytes_needed()), 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) return s.socket.reset();
    s.handshake->feed({buffer, static_cast<size_t>(n)});
    if (s.handshake->state() == HandshakeState::authenticated) accept_child(s);
    if (s.handshake->state() != HandshakeState::in_progress) s.socket.reset();
}

// Authenticated. A second connection of a daemon, over another address, is ignored: the daemon uses the first
// one that replies.
void Subtree::accept_child(PendingChild& s) {
    const auto child = std::find_if(children_.begin(), children_.end(),
                                    [&](const Child& c) { return c.range.node == s.handshake->node(); });
    if (child == children_.end() || child->connection || child->finished) return;
    const std::string reply = s.handshake->take_output();
    if (::send(s.socket.get(), reply.data(), reply.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(reply.size()))
        return;
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, s.socket.get(), nullptr);
    child->connection.emplace(std::move(s.socket));
    child->connection->send_encoded(child->backlog);
    child->backlog.clear();
    child->connect_deadline = 0;
    child->last_received = os::now_ns();
    update_events(static_cast<uint32_t>(child - children_.begin()));
    stop_listening_when_complete();
}

void Subtree::stop_listening_when_complete() {
    for (const Child& c : children_)
        if (!c.connection && !c.finished) return;
    listeners_.clear();
    pending_children_.clear();
}

void Subtree::on_child(uint32_t index, uint32_t events) {
    Child& c = children_[index];
    if (!c.connection) return;
    if ((events & EPOLLOUT) != 0) c.connection->flush();
    if (paused_ || (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0) return;
    const bool alive = c.connection->receive();
    const int error = c.connection->error();
    c.last_received = os::now_ns();
    ControlFrame f;
    while (children_[index].connection && children_[index].connection->next(f)) {
        if (f.type == ControlFrameType::heartbeat) continue;
        if (f.type == ControlFrameType::done)
            children_[index].finished = true; // but it still serves the keys of its ranks
        on_frame_(index, f);
    }
    if (!alive) fail_child(index, disconnect_text(error), dmesg);
}

void Subtree::on_agent_stderr(Child& c) {
    char buffer[1024];
    const ssize_t n = read(c.agent_stderr.get(), buffer, sizeof buffer);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) return c.agent_stderr.reset();
    c.agent_output.append(buffer, static_cast<size_t>(n));
    if (c.agent_output.size() > agent_stderr_limit)
        c.agent_output.erase(0, c.agent_output.size() - agent_stderr_limit);
}

void Subtree::send(Child& c, ControlFrameType type, std::string_view payload) {
    if (c.connection)
        c.connection->send(type, payload);
    else if (!c.finished)
        c.backlog += encode(type, payload);
}

void Subtree::send_all(ControlFrameType type, std::string_view payload) {
    for (Child& c : children_) send(c, type, payload);
    for (uint32_t i = 0; i < children(); ++i) update_events(i);
}

bool Subtree::send_to_node(uint32_t node, ControlFrameType type, std::string_view payload) {
    for (uint32_t i = 0; i < children(); ++i) {
        Child& c = children_[i];
        if (node < c.range.node || node >= c.range.end) continue;
        send(c, type, payload);
        update_events(i);
        return true;
    }
    return false;
}

bool Subtree::has_failed(uint32_t node) const {
    return std::any_of(children_.begin(), children_.end(), [&](const Child& c) {
        return node >= c.range.node && node < c.range.end && c.finished && !c.connection;
    });
}

void Subtree::pause(bool paused) {
    if (paused_ == paused) return;
    paused_ = paused;
    for (uint32_t i = 0; i < children(); ++i) {
        children_[i].last_received = os::now_ns();
        update_events(i);
    }
}

void Subtree::close() {
    for (Child& c : children_) c.connection.reset();
    listeners_.clear();
    pending_children_.clear();
}

bool Subtree::all_finished() const {
    return std::all_of(children_.begin(), children_.end(), [](const Child& c) { return c.finished; });
}

void Subtree::mark_exempt_from_fence(const std::function<bool(NodeRange)>& has_ranks) {
    for (Child& c : children_) c.exempt_from_fence = !has_ranks(c.range);
}

std::vector<pid_t> Subtree::pids() const {
    std::vector<pid_t> all;
    for (const Child& c : children_)
        if (c.pid > 0) all.push_back(c.pid);
    return all;
}

void Subtree::close_child(uint32_t child) {
    Child& c = children_[child];
    c.finished = true;
    c.connection.reset();
    c.agent_stderr.reset();
    stop_listening_when_complete();
}

void Subtree::fail_child(uint32_t child, const std::string& why, const std::string& fix) {
    const Child& c = children_[child];
    Diagnostic p{"the node daemon died", "host " + c.host, why, fix};
    const bool was_finished = c.finished;
    if (c.network && c.pid > 0) kill(c.pid, SIGKILL);
    close_child(child);
    if (!was_finished) on_failed_(child, true, p);
}

void Subtree::fail_start(uint32_t child, const std::string& why) {
    Child& c = children_[child];
    while (c.agent_stderr) {
        const size_t before = c.agent_output.size();
        on_agent_stderr(c);
        if (c.agent_output.size() == before) break;
    }
    std::string output = c.agent_output;
    while (!output.empty() && output.back() == '\n') output.pop_back();
    std::replace(output.begin(), output.end(), '\n', ' ');
    Diagnostic p{"the daemon of host " + c.host + " could not be started", "host " + os::host_name(),
                 why + (output.empty() ? "" : "; its output: " + output),
                 "check that the launch agent (--launch-agent, default ssh) reaches " + c.host +
                     " without a password, and that ZipMPI is installed there at the same path"};
    if (c.pid > 0) kill(c.pid, SIGKILL);
    close_child(child);
    on_failed_(child, false, p);
}

void Subtree::on_reaped(pid_t pid, int status) {
    for (uint32_t i = 0; i < children(); ++i) {
        Child& c = children_[i];
        if (c.pid != pid) continue;
        c.pid = -1;
        // A connected daemon may have moved to the background; its connection shows when it ends.
        if (c.network && !c.connection && !c.finished && status != 0)
            fail_start(i, "the launch agent exited before the daemon connected: " + exit_text(status));
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
    const auto at_work = [](const Child& c) { return !c.finished || c.connection; };
    if (!network_ || std::none_of(children_.begin(), children_.end(), at_work)) return 0;
    uint64_t next = heartbeat_at_;
    for (const PendingChild& s : pending_children_)
        if (s.socket) next = std::min(next, s.deadline);
    for (const Child& c : children_)
        if (c.network && c.connection && !paused_)
            next = std::min(next, c.last_received + boot::heartbeat_timeout_ns());
    return next;
}

void Subtree::on_time() {
    if (!network_) return;
    const uint64_t now = os::now_ns();
    for (PendingChild& s : pending_children_)
        if (s.socket && now >= s.deadline) s.socket.reset();
    const bool heartbeat_due = now >= heartbeat_at_;
    const bool late = now > heartbeat_at_ + heartbeat_interval_ns; // this process was stopped: ignore the gap
    if (heartbeat_due) heartbeat_at_ = now + heartbeat_interval_ns;
    for (uint32_t i = 0; i < children(); ++i) {
        Child& c = children_[i];
        if (!c.network || (c.finished && !c.connection)) continue;
        if (late || paused_) c.last_received = now;
        if (!c.connection) {
            if (now >= c.connect_deadline) fail_start(i, "the daemon did not connect within 60 s");
            continue;
        }
        if (heartbeat_due) {
            c.connection->send(ControlFrameType::heartbeat);
            update_events(i);
        }
        if (now - c.last_received >= boot::heartbeat_timeout_ns())
            fail_child(i, heartbeat_timeout_text(), "check that host and its network; restart the job");
    }
}

} // namespace zipmpi::launch
