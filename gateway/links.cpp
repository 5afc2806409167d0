// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gateway/links.hpp"

#include "os/clock.hpp"
#include "os/random.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <utility>

namespace zipmpi::gateway {
namespace {

constexpr uint64_t ms = 1'000'000;
constexpr uint64_t pause_ns = 200 * ms;  // before a connection is tried again
constexpr uint64_t hello_ns = 5000 * ms; // a stranger may hold a connection no longer
constexpr size_t most_strangers = 64;
constexpr uint32_t gateway_mark = 0x80000000; // among the nodes of daemons there is none so high
constexpr size_t longest_gathered = size_t{2} << 10;

bool read_endpoint(const std::string& text, launch::Endpoint& out) {
    const size_t colon = text.rfind(':');
    if (colon == std::string::npos) return false;
    std::string address = text.substr(0, colon);
    if (address.size() > 2 && address.front() == '[') address = address.substr(1, address.size() - 2);
    unsigned char bytes[16];
    for (const auto& [family, size] : {std::pair(AF_INET, size_t{4}), std::pair(AF_INET6, size_t{16})})
        if (inet_pton(family, address.c_str(), bytes) == 1)
            out.address.assign(reinterpret_cast<const char*>(bytes), size);
    out.port = static_cast<uint32_t>(std::strtoul(text.c_str() + colon + 1, nullptr, 10));
    return !out.address.empty() && out.port < 65536;
}

} // namespace

Links::Links(Forwarder& forwarder, Book book)
    : forwarder_(forwarder)
    , book_(std::move(book)) {
    std::memcpy(key_.data(), forwarder.setting().key.data(), key_.size());
    const size_t n =
        forwarder.setting().grid.gateways[static_cast<size_t>(forwarder.setting().number)].links.size();
    listeners_.resize(n);
    of_link_.resize(n);
    again_ns_.resize(n);
    forwarder.send_over_link = [this](int link, Transit* t) { return send(link, t); };
    forwarder.let_go_of_link = [this](void* room) { rooms_.give(static_cast<transport::ucx::Room*>(room)); };
    const auto& links =
        forwarder.setting().grid.gateways[static_cast<size_t>(forwarder.setting().number)].links;
    for (const bridge::Link& l : links)
        forwarder.routes().set_link_up(forwarder.setting().number, l.to_gateway, false);
}

Links::~Links() {
    forwarder_.send_over_link = nullptr;
    forwarder_.let_go_of_link = [](void* room) { delete static_cast<transport::ucx::Room*>(room); };
    connections_.clear(); // gives up what is under way
}

bool Links::listen(std::string& why) {
    const auto& links =
        forwarder_.setting().grid.gateways[static_cast<size_t>(forwarder_.setting().number)].links;
    for (size_t i = 0; i < links.size(); ++i) {
        if (links[i].listen.empty()) continue;
        launch::Endpoint at;
        if (read_endpoint(links[i].listen, at)) listeners_[i] = launch::listen_on(at);
        if (!listeners_[i]) {
            why = "it cannot listen on " + links[i].listen + ": " + std::strerror(errno);
            return false;
        }
        book_.publish(static_cast<int>(i), launch::shown(at));
    }
    return true;
}

void Links::serve(int epoll) {
    epoll_ = epoll;
    for (size_t i = 0; i < listeners_.size(); ++i) {
        if (!listeners_[i]) continue;
        epoll_event e{};
        e.events = EPOLLIN;
        e.data.u64 = first_key + i;
        epoll_ctl(epoll, EPOLL_CTL_ADD, listeners_[i].get(), &e);
    }
}

int Links::look_after(int epoll) {
    const uint64_t now = os::now_ns();
    int next = -1;
    for (size_t i = 0; i < of_link_.size(); ++i) {
        if (listeners_[i] || of_link_[i] != 0) continue;
        if (now >= again_ns_[i]) {
            again_ns_[i] = now + pause_ns;
            connect(epoll, static_cast<int>(i));
        }
        next = static_cast<int>(pause_ns / ms);
    }
    std::vector<uint64_t> late;
    for (const auto& [key, c] : connections_)
        if (c->link < 0 && now > c->since_ns + hello_ns) late.push_back(key);
    for (const uint64_t key : late) close(epoll, key);
    return next;
}

void Links::accept(int epoll, int listener) {
    os::Fd fd(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    launch::Nonce nonce;
    if (!fd || !os::fill_random(nonce.data(), nonce.size())) return;
    make_room_for_stranger(epoll);
    auto c = std::make_unique<Connection>();
    c->fd = std::move(fd);
    c->acceptor = std::make_unique<launch::HelloAcceptor>(key_, nonce);
    c->out_text = c->acceptor->take_output();
    add(epoll, std::move(c));
}

// Whoever keeps many connections open keeps nobody out: the oldest goes. One that has the key is through in a
// moment.
void Links::make_room_for_stranger(int epoll) {
    size_t strangers = 0;
    uint64_t oldest = UINT64_MAX;
    for (const auto& [key, c] : connections_) {
        if (c->link >= 0 || c->ours) continue;
        ++strangers;
        oldest = std::min(oldest, key); // keys count up
    }
    if (strangers >= most_strangers) close(epoll, oldest);
}

void Links::connect(int epoll, int link) {
    const Setting& s = forwarder_.setting();
    const bridge::Link& l = s.grid.gateways[static_cast<size_t>(s.number)].links[static_cast<size_t>(link)];
    std::string text = l.connect;
    if (text.empty()) {
        const auto& others = s.grid.gateways[static_cast<size_t>(l.to_gateway)].links;
        for (size_t i = 0; i < others.size(); ++i)
            if (others[i].to_gateway == s.number) text = book_.where(l.to_gateway, static_cast<int>(i));
    }
    launch::Endpoint to;
    launch::Nonce nonce;
    if (!read_endpoint(text, to) || !os::fill_random(nonce.data(), nonce.size())) return;
    auto c = std::make_unique<Connection>();
    c->fd = launch::begin_connect(to);
    if (!c->fd) return;
    c->ours = true;
    c->connector =
        std::make_unique<launch::HelloConnector>(key_, nonce, gateway_mark | static_cast<uint32_t>(s.number));
    again_ns_[static_cast<size_t>(link)] = os::now_ns() + hello_ns;
    c->link = -1 - link - 1; // not proven; whom we mean is known
    add(epoll, std::move(c));
}

void Links::add(int epoll, std::unique_ptr<Connection> c) {
    c->since_ns = os::now_ns();
    launch::tune(c->fd.get());
    epoll_event e{};
    e.events = EPOLLIN | EPOLLOUT;
    c->wants_out = true;
    e.data.u64 = next_key_;
    epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd.get(), &e);
    connections_.emplace(next_key_++, std::move(c));
}

void Links::on_event(int epoll, uint64_t key, uint32_t events) {
    if (key - first_key < listeners_.size()) return accept(epoll, listeners_[key - first_key].get());
    const auto found = connections_.find(key);
    if (found == connections_.end()) return;
    Connection& c = *found->second;
    const bool fine = (events & (EPOLLERR | EPOLLHUP)) == 0 && talk(c);
    if (!fine || !connections_.contains(key)) return close(epoll, key);
    if (c.link >= 0 &&
        of_link_[static_cast<size_t>(c.link)] != key) { // just proven: it replaces an older one
        const uint64_t old = std::exchange(of_link_[static_cast<size_t>(c.link)], key);
        if (old != 0) close(epoll, old);
        const Setting& s = forwarder_.setting();
        const int other =
            s.grid.gateways[static_cast<size_t>(s.number)].links[static_cast<size_t>(c.link)].to_gateway;
        forwarder_.link_changed(other, true);
    }
    watch(epoll, key);
}

void Links::watch(int epoll, uint64_t key) {
    Connection& c = *connections_.at(key);
    const bool wants = (c.stream != nullptr && c.stream->has_out()) || !c.out_text.empty();
    if (wants == c.wants_out) return;
    c.wants_out = wants;
    epoll_event e{};
    e.events = EPOLLIN | (wants ? EPOLLOUT : 0U);
    e.data.u64 = key;
    epoll_ctl(epoll, EPOLL_CTL_MOD, c.descriptor(), &e);
}

void Links::close(int epoll, uint64_t key) {
    const auto found = connections_.find(key);
    if (found == connections_.end()) return;
    const std::unique_ptr<Connection> c = std::move(found->second);
    connections_.erase(found);
    epoll_ctl(epoll, EPOLL_CTL_DEL, c->descriptor(), nullptr);
    const Setting& s = forwarder_.setting();
    if (c->link < -1) again_ns_[static_cast<size_t>(-c->link - 2)] = os::now_ns() + pause_ns;
    if (c->link >= 0 && of_link_[static_cast<size_t>(c->link)] == key) {
        of_link_[static_cast<size_t>(c->link)] = 0;
        again_ns_[static_cast<size_t>(c->link)] = os::now_ns();
        const int other =
            s.grid.gateways[static_cast<size_t>(s.number)].links[static_cast<size_t>(c->link)].to_gateway;
        forwarder_.link_changed(other, false);
    }
    if (c->link >= 0) gateway::add(forwarder_.shown().link(c->link).lost, c->queued);
}

bool Links::talk(Connection& c) {
    if (c.link < 0 && !greet(c)) return false;
    if (c.link < 0) return true;
    // While too much lies here the kernel holds the rest, and the other side notices.
    return c.stream->write() && (forwarder_.full() || c.stream->read() >= 0);
}

bool Links::greet(Connection& c) {
    for (;;) {
        if (!c.out_text.empty()) {
            const ssize_t n = ::send(c.fd.get(), c.out_text.data(), c.out_text.size(), MSG_NOSIGNAL);
            if (n < 0) return errno == EAGAIN || errno == ENOTCONN || errno == EINPROGRESS;
            c.out_text.erase(0, static_cast<size_t>(n));
            if (!c.out_text.empty()) return true;
        }
        launch::Hello& hello = c.ours ? static_cast<launch::Hello&>(*c.connector) : *c.acceptor;
        if (hello.state() == launch::HelloState::proven) return proven(c, c.ours ? 0 : c.acceptor->node());
        char bytes[128];
        const ssize_t n = recv(c.fd.get(), bytes, std::min(sizeof bytes, hello.wanted()), 0);
        if (n < 0) return errno == EAGAIN || errno == EINTR || errno == ENOTCONN;
        if (n == 0) return false;
        const std::string_view came(bytes, static_cast<size_t>(n));
        const launch::HelloState state = c.ours ? c.connector->feed(came) : c.acceptor->feed(came);
        if (state == launch::HelloState::refused) return false;
        c.out_text += hello.take_output();
    }
}

bool Links::proven(Connection& c, uint32_t node) {
    const Setting& s = forwarder_.setting();
    const auto& links = s.grid.gateways[static_cast<size_t>(s.number)].links;
    int link = c.ours ? -c.link - 2 : -1;
    for (size_t i = 0; i < links.size() && !c.ours; ++i)
        if (node == (gateway_mark | static_cast<uint32_t>(links[i].to_gateway))) link = static_cast<int>(i);
    c.link = link;
    if (link < 0) return false;
    c.links = this;
    c.stream = std::make_unique<transport::ucx::Stream>(std::move(c.fd), rooms_, user_of(c));
    return true;
}

transport::ucx::Stream::User Links::user_of(Connection& connection) {
    transport::ucx::Stream::User u{};
    u.subject = &connection;
    u.frame = [](void* self, std::span<const std::byte> head, std::span<const std::byte> data,
                 transport::ucx::Room* room) {
        const Connection& c = *static_cast<Connection*>(self);
        Forwarder& forwarder = c.links->forwarder_;
        const Setting& s = forwarder.setting();
        const int from = bridge::gateway_id(
            s.job_size,
            s.grid.gateways[static_cast<size_t>(s.number)].links[static_cast<size_t>(c.link)].to_gateway);
        return forwarder.take(-1, from, head, data, room, transport::ucx::piped_in(room));
    };
    u.only_passes_on = true;
    u.left = [](void* self, void* ticket) {
        Connection& c = *static_cast<Connection*>(self);
        --c.queued;
        take_off(c.links->forwarder_.shown().link(c.link).queued);
        c.links->forwarder_.left(static_cast<Transit*>(ticket));
    };
    return u;
}

bool Links::send(int link, Transit* t) {
    const uint64_t key = of_link_[static_cast<size_t>(link)];
    if (key == 0) return false;
    Connection& c = *connections_.at(key);
    if (t->bytes <= longest_gathered) { // leaves with others of this round
        if (c.stream->gathered() == 0) gathering_.push_back(link);
        c.stream->gather(t->head, t->data);
        forwarder_.left(t);
        return true;
    }
    const Posted posted = c.stream->send(t->head, t->data, t, t->piped);
    if (posted == Posted::under_way) {
        ++c.queued;
        gateway::add(forwarder_.shown().link(link).queued);
    } else {
        forwarder_.left(t); // an error shows in the next event
    }
    watch(epoll_, key);
    return true;
}

void Links::flush() {
    for (const int link : std::exchange(gathering_, {})) {
        const uint64_t key = of_link_[static_cast<size_t>(link)];
        if (key == 0) continue;
        static_cast<void>(connections_.at(key)->stream->flush());
        watch(epoll_, key);
    }
}

} // namespace zipmpi::gateway
