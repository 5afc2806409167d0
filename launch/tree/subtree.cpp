// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/tree/subtree.hpp"

#include "boot/limits.hpp"
#include "launch/report/death.hpp"
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
constexpr uint64_t connect_limit = 60 * second; // from the start of the agent to a proven connection
constexpr uint64_t stranger_limit = 2 * second; // from accept to the proof
constexpr size_t most_strangers = 64;
constexpr size_t complaint_limit = 2048;

uint64_t key_of(uint32_t source, uint32_t index) { return uint64_t{source} << 32 | index; }

constexpr const char* dmesg =
    "look into the kernel log of that host (dmesg), and whether it is up; start the job again";

std::string closed(int error) {
    if (error == 0)
        return "its connection closed: somebody killed the daemon, it ran out of memory, or the host went "
               "down";
    return std::string("the connection between its zipmpi-noded and the one that started it broke (") +
           std::strerror(error) +
           "): a firewall, a router or somebody (ss -K) cut it, or the daemon was killed";
}

// The first of `width` almost equal parts.
uint32_t part_of(uint32_t nodes, uint32_t parts) { return (nodes + parts - 1) / parts; }

// The child is the first of these nodes.
uint32_t end_of_child(const TreePlan& plan, NodePlace nodes, uint32_t parts) {
    if (plan.parents.empty()) return nodes.node + part_of(nodes.end - nodes.node, parts);
    uint32_t end = nodes.node + 1;
    while (end < nodes.end && plan.parents[end] != plan.parents[nodes.node]) ++end;
    return end;
}

} // namespace

Subtree::Subtree(OnFrame on_frame, OnLost on_lost)
    : on_frame_(std::move(on_frame))
    , on_lost_(std::move(on_lost))
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

void Subtree::update(uint32_t child) {
    Child& c = children_[child];
    if (!c.channel) return;
    const bool writes = c.channel->queued() > 0 && !c.channel->gone();
    watch(c.channel->fd(), (paused_ ? 0U : EPOLLIN) | (writes ? EPOLLOUT : 0U), Source::child, child);
}

void Subtree::adopt(NodePlace place, os::Fd socket, pid_t pid) {
    Child c;
    c.place = place;
    c.host = os::host_name();
    c.pid = pid;
    c.channel.emplace(std::move(socket));
    children_.push_back(std::move(c));
    update(children() - 1);
}

bool Subtree::grow(const TreePlan& plan, const JobKey& key, NodePlace nodes, Problem& why) {
    network_ = true;
    key_ = key;
    strangers_.resize(most_strangers);
    if (!listen(plan, why)) return false;
    beat_at_ = os::now_ns() + beat_interval_ns;
    uint32_t node = nodes.node;
    for (uint32_t parts = std::min(plan.width, nodes.end - node); node<nodes.end; parts -= parts> 1 ? 1 : 0) {
        Child c;
        c.place = {node, end_of_child(plan, {node, nodes.end}, parts)};
        c.host = plan.hosts[node];
        c.network = true;
        c.connect_by = os::now_ns() + connect_limit;
        node = c.place.end;
        children_.push_back(std::move(c));
        if (!start(plan, key, children_.back(), why)) return false;
        watch(children_.back().complaints.get(), EPOLLIN, Source::complaints, children() - 1);
    }
    return true;
}

bool Subtree::listen(const TreePlan& plan, Problem& why) {
    for (Endpoint& e : own_addresses(plan.interface)) {
        os::Fd s = listen_on(e);
        if (!s) continue;
        watch(s.get(), EPOLLIN, Source::listener, static_cast<uint32_t>(listeners_.size()));
        listeners_.push_back(std::move(s));
        endpoints_.push_back(e);
    }
    if (!listeners_.empty()) return true;
    why = {"no address of this host can be listened on", "host " + os::host_name(),
           plan.interface.empty() ? "no network interface is up, not even the loopback one"
                                  : "the interface " + plan.interface + " is not up or does not exist",
           plan.interface.empty() ? "bring one up (ip link set lo up)"
                                  : "see `ip address`, and give another one to --launch-interface"};
    return false;
}

bool Subtree::start(const TreePlan& plan, const JobKey& key, Child& child, Problem& why) {
    Agent agent;
    std::string input = encode(Bootstrap{child.place, key, endpoints_, plan.job_id});
    const bool ok = start_agent(plan, child.place.node, input, agent, why);
    explicit_bzero(input.data(), input.size());
    if (!ok) return false;
    child.pid = agent.pid;
    child.complaints = std::move(agent.complaints);
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
        case Source::stranger:
            on_stranger(index);
            break;
        case Source::child:
            on_child(index, events[i].events);
            break;
        case Source::complaints:
            on_complaints(children_[index]);
            break;
        }
    }
    for (uint32_t i = 0; i < children(); ++i) update(i);
}

// When all places are taken the oldest stranger goes: one of us needs a moment only.
void Subtree::on_listener(uint32_t listener) {
    if (listener >= listeners_.size()) return;
    os::Fd s(accept4(listeners_[listener].get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    Nonce nonce;
    if (!s || !os::fill_random(nonce.data(), nonce.size())) return;
    auto place =
        std::min_element(strangers_.begin(), strangers_.end(), [](const Stranger& a, const Stranger& b) {
            return (a.socket ? a.until : 0) < (b.socket ? b.until : 0);
        });
    *place = {std::move(s), HelloAcceptor(key_, nonce), os::now_ns() + stranger_limit};
    tune(place->socket.get());
    const std::string opening = place->hello->take_output();
    if (::send(place->socket.get(), opening.data(), opening.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(opening.size()))
        return place->socket.reset();
    watch(place->socket.get(), EPOLLIN, Source::stranger, static_cast<uint32_t>(place - strangers_.begin()));
}

void Subtree::on_stranger(uint32_t index) {
    if (index >= strangers_.size() || !strangers_[index].socket) return;
    Stranger& s = strangers_[index];
    char buffer[sizeof(HelloClaim)];
    const ssize_t n = recv(s.socket.get(), buffer, std::min(sizeof buffer, s.hello->wanted()), 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) return s.socket.reset();
    s.hello->feed({buffer, static_cast<size_t>(n)});
    if (s.hello->state() == HelloState::proven) welcome(s);
    if (s.hello->state() != HelloState::going_on) s.socket.reset();
}

// It knows the key. A second connection of the same daemon, over another address, is dropped by our silence:
// the daemon takes the first that answers.
void Subtree::welcome(Stranger& s) {
    const auto child = std::find_if(children_.begin(), children_.end(),
                                    [&](const Child& c) { return c.place.node == s.hello->node(); });
    if (child == children_.end() || child->channel || child->over) return;
    const std::string reply = s.hello->take_output();
    if (::send(s.socket.get(), reply.data(), reply.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(reply.size()))
        return;
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, s.socket.get(), nullptr);
    child->channel.emplace(std::move(s.socket));
    child->channel->send_encoded(child->backlog);
    child->backlog.clear();
    child->connect_by = 0;
    child->heard = os::now_ns();
    update(static_cast<uint32_t>(child - children_.begin()));
    stop_listening_when_complete();
}

void Subtree::stop_listening_when_complete() {
    for (const Child& c : children_)
        if (!c.channel && !c.over) return;
    listeners_.clear();
    strangers_.clear();
}

void Subtree::on_child(uint32_t index, uint32_t events) {
    Child& c = children_[index];
    if (!c.channel) return;
    if ((events & EPOLLOUT) != 0) c.channel->flush();
    if (paused_ || (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0) return;
    const bool alive = c.channel->receive();
    const int error = c.channel->error();
    c.heard = os::now_ns();
    Frame f;
    while (children_[index].channel && children_[index].channel->next(f)) {
        if (f.type == FrameType::beat) continue;
        if (f.type == FrameType::done) children_[index].over = true; // but it still answers for its ranks
        on_frame_(index, f);
    }
    if (!alive) lost(index, closed(error), dmesg);
}

void Subtree::on_complaints(Child& c) {
    char buffer[1024];
    const ssize_t n = read(c.complaints.get(), buffer, sizeof buffer);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) return c.complaints.reset();
    c.said.append(buffer, static_cast<size_t>(n));
    if (c.said.size() > complaint_limit) c.said.erase(0, c.said.size() - complaint_limit);
}

void Subtree::send(Child& c, FrameType type, std::string_view payload) {
    if (c.channel)
        c.channel->send(type, payload);
    else if (!c.over)
        c.backlog += encode(type, payload);
}

void Subtree::send_all(FrameType type, std::string_view payload) {
    for (Child& c : children_) send(c, type, payload);
    for (uint32_t i = 0; i < children(); ++i) update(i);
}

bool Subtree::send_to_node(uint32_t node, FrameType type, std::string_view payload) {
    for (uint32_t i = 0; i < children(); ++i) {
        Child& c = children_[i];
        if (node < c.place.node || node >= c.place.end) continue;
        send(c, type, payload);
        update(i);
        return true;
    }
    return false;
}

bool Subtree::has_lost(uint32_t node) const {
    return std::any_of(children_.begin(), children_.end(), [&](const Child& c) {
        return node >= c.place.node && node < c.place.end && c.over && !c.channel;
    });
}

void Subtree::pause(bool paused) {
    if (paused_ == paused) return;
    paused_ = paused;
    for (uint32_t i = 0; i < children(); ++i) {
        children_[i].heard = os::now_ns();
        update(i);
    }
}

void Subtree::close() {
    for (Child& c : children_) c.channel.reset();
    listeners_.clear();
    strangers_.clear();
}

bool Subtree::all_over() const {
    return std::all_of(children_.begin(), children_.end(), [](const Child& c) { return c.over; });
}

void Subtree::mark_quiet(const std::function<bool(NodePlace)>& has_ranks) {
    for (Child& c : children_) c.quiet = !has_ranks(c.place);
}

std::vector<pid_t> Subtree::pids() const {
    std::vector<pid_t> all;
    for (const Child& c : children_)
        if (c.pid > 0) all.push_back(c.pid);
    return all;
}

void Subtree::end(uint32_t child) {
    Child& c = children_[child];
    c.over = true;
    c.channel.reset();
    c.complaints.reset();
    stop_listening_when_complete();
}

void Subtree::lost(uint32_t child, const std::string& why, const std::string& todo) {
    const Child& c = children_[child];
    Problem p{"the node daemon died", "host " + c.host, why, todo};
    const bool was_over = c.over;
    if (c.network && c.pid > 0) kill(c.pid, SIGKILL);
    end(child);
    if (!was_over) on_lost_(child, true, p);
}

void Subtree::start_failed(uint32_t child, const std::string& why) {
    Child& c = children_[child];
    while (c.complaints) {
        const size_t before = c.said.size();
        on_complaints(c);
        if (c.said.size() == before) break;
    }
    std::string said = c.said;
    while (!said.empty() && said.back() == '\n') said.pop_back();
    std::replace(said.begin(), said.end(), '\n', ' ');
    Problem p{"the daemon of host " + c.host + " could not be started", "host " + os::host_name(),
              why + (said.empty() ? "" : "; it said: " + said),
              "check that the launch agent (--launch-agent, default ssh) reaches " + c.host +
                  " without a password, and that ZipMPI is installed there at the same path"};
    if (c.pid > 0) kill(c.pid, SIGKILL);
    end(child);
    on_lost_(child, false, p);
}

void Subtree::reaped(pid_t pid, int status) {
    for (uint32_t i = 0; i < children(); ++i) {
        Child& c = children_[i];
        if (c.pid != pid) continue;
        c.pid = -1;
        // A connected daemon may have put itself into the background; its connection says when it ends.
        if (c.network && !c.channel && !c.over && status != 0)
            start_failed(i, "the launch agent ended before the daemon came: " + ending_text(status));
    }
}

static std::string silent() {
    char text[120];
    std::snprintf(
        text, sizeof text,
        "nothing came from it for %.1f s: the host or the network is down, or the daemon is stopped",
        static_cast<double>(boot::silence_limit_ns()) * 1e-9);
    return text;
}

uint64_t Subtree::next_time() const {
    const auto at_work = [](const Child& c) { return !c.over || c.channel; };
    if (!network_ || std::none_of(children_.begin(), children_.end(), at_work)) return 0;
    uint64_t next = beat_at_;
    for (const Stranger& s : strangers_)
        if (s.socket) next = std::min(next, s.until);
    for (const Child& c : children_)
        if (c.network && c.channel && !paused_) next = std::min(next, c.heard + boot::silence_limit_ns());
    return next;
}

void Subtree::on_time() {
    if (!network_) return;
    const uint64_t now = os::now_ns();
    for (Stranger& s : strangers_)
        if (s.socket && now >= s.until) s.socket.reset();
    const bool beat = now >= beat_at_;
    const bool late = now > beat_at_ + beat_interval_ns; // we were stopped ourselves: the silence is ours
    if (beat) beat_at_ = now + beat_interval_ns;
    for (uint32_t i = 0; i < children(); ++i) {
        Child& c = children_[i];
        if (!c.network || (c.over && !c.channel)) continue;
        if (late || paused_) c.heard = now;
        if (!c.channel) {
            if (now >= c.connect_by) start_failed(i, "the daemon did not connect within 60 s");
            continue;
        }
        if (beat) {
            c.channel->send(FrameType::beat);
            update(i);
        }
        if (now - c.heard >= boot::silence_limit_ns())
            lost(i, silent(), "check that host and its network; start the job again");
    }
}

} // namespace zipmpi::launch
