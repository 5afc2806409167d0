// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Connections until both sides are authenticated.
#include "transport/interjob/interjob_network.hpp"

#include "os/clock.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/epoll.h>
#include <sys/socket.h>

namespace zipmpi::interjob {
namespace {

constexpr uint64_t second_ns = 1'000'000'000;
constexpr uint64_t dial_ns = 5 * second_ns;
constexpr uint64_t handshake_ns = 10 * second_ns;
constexpr uint64_t parked_ns = 120 * second_ns;                // until this process receives the key
constexpr uint64_t authenticated_timeout_ns = 600 * second_ns; // an authenticated peer may be computing
constexpr uint32_t max_rounds = 3;                             // over all addresses
constexpr size_t max_unauthenticated = 1024;

bool send_now(int fd, const void* bytes, size_t n) {
    return ::send(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(n);
}

template <class T>
bool take(std::string& in, T& out) {
    if (in.size() < sizeof out) return false;
    std::memcpy(&out, in.data(), sizeof out);
    in.erase(0, sizeof out);
    return true;
}

} // namespace

bool InterJobNetwork::watch(Connection& c, bool add) {
    epoll_event e{};
    const bool out = c.state == Connection::State::dialing || (c.is_open() && !c.out.empty());
    e.events = EPOLLIN | (out ? EPOLLOUT : 0U);
    e.data.u64 = c.number;
    c.watches_writable = out;
    return epoll_ctl(epoll_.get(), add ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, c.fd.get(), &e) == 0;
}

Connection& InterJobNetwork::add_connection(os::Fd fd, Connection::State state) {
    auto made = std::make_unique<Connection>();
    Connection& c = *made;
    c.number = next_connection_++;
    c.state = state;
    c.fd = std::move(fd);
    c.deadline_ns = os::now_ns() + handshake_ns;
    connections_.emplace(c.number, std::move(made));
    return c;
}

// Dials this address or the next ones. Returns false if none is usable.
bool InterJobNetwork::dial_next(Connection& c) {
    const ExternalPeer& f = external_peers_[static_cast<size_t>(c.external)];
    const uint32_t addresses = address_count(f.contact);
    c.state = Connection::State::dialing;
    c.in.clear();
    for (; c.attempts < max_rounds * addresses;
         ++c.attempts, c.address_index = (c.address_index + 1) % addresses) {
        c.fd = dial(f.contact, c.address_index);
        if (!c.fd && errno == EAGAIN) // its listen queue is full: retry in check_timeouts()
            return c.deadline_ns >= os::now_ns();
        c.deadline_ns = os::now_ns() + dial_ns;
        if (c.fd && watch(c, true)) return true;
    }
    return false;
}

bool InterJobNetwork::try_next_address(Connection& c) {
    c.fd.reset();
    ++c.attempts;
    c.address_index = (c.address_index + 1) %
                      std::max(1U, address_count(external_peers_[static_cast<size_t>(c.external)].contact));
    return dial_next(c);
}

void InterJobNetwork::on_connected(Connection& c) {
    int error = 0;
    socklen_t length = sizeof error;
    const ExternalPeer& f = external_peers_[static_cast<size_t>(c.external)];
    c.hello = make_hello(f.key, contact_info_.name, f.contact.name);
    if (getsockopt(c.fd.get(), SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0 &&
        send_now(c.fd.get(), &c.hello, sizeof c.hello)) {
        c.state = Connection::State::hello_sent;
        c.deadline_ns = os::now_ns() + 4 * dial_ns;
        static_cast<void>(watch(c));
        return;
    }
    c.broken = !try_next_address(c);
}

void InterJobNetwork::accept_connection(int listener) {
    const auto unauthenticated = static_cast<size_t>(
        std::ranges::count_if(connections_, [](const auto& one) { return one.second->external < 0; }));
    os::Fd fd = accept_on(listener);
    if (!fd || unauthenticated >= max_unauthenticated) return;
    Connection& c = add_connection(std::move(fd), Connection::State::hello_awaited);
    c.broken = !watch(c, true);
}

// Handles the next handshake message if it is complete. Returns false if it is invalid.
bool InterJobNetwork::on_handshake(Connection& c) {
    switch (c.state) {
    case Connection::State::hello_awaited:
        return !take(c.in, c.hello) || on_hello(c);
    case Connection::State::hello_sent:
        return !take(c.in, c.hello_reply) || on_hello_reply(c);
    case Connection::State::reply_sent:
        return on_confirm(c);
    default:
        return c.in.empty();
    }
}

bool InterJobNetwork::on_hello(Connection& c) {
    if (!is_hello(c.hello) || c.hello.to != contact_info_.name) return false;
    const auto key = keys_.find(c.hello.key);
    if (key != keys_.end()) return reply_hello(c, key->second);
    c.state = Connection::State::parked; // other ranks of its group may be ahead of this process
    c.deadline_ns = os::now_ns() + parked_ns;
    return true;
}

bool InterJobNetwork::reply_hello(Connection& c, const std::string& key) {
    if (!is_authentic(c.hello, key) || by_name_.count(c.hello.from) == 0) return false;
    c.hello_reply = make_hello_reply(c.hello, key);
    c.state = Connection::State::reply_sent;
    c.deadline_ns = os::now_ns() + authenticated_timeout_ns;
    return send_now(c.fd.get(), &c.hello_reply, sizeof c.hello_reply);
}

void InterJobNetwork::retry_parked() {
    for (const auto& [number, c] : connections_) {
        if (c->state != Connection::State::parked) continue;
        const auto key = keys_.find(c->hello.key);
        if (key != keys_.end() && by_name_.count(c->hello.from) != 0)
            c->broken = !reply_hello(*c, key->second);
    }
}

bool InterJobNetwork::on_hello_reply(Connection& c) {
    const auto key = keys_.find(c.hello.key); // may have been replaced by a newer one
    if (key == keys_.end() || !is_authentic(c.hello, c.hello_reply, key->second)) return false;
    const Confirm confirm = make_confirm(c.hello, c.hello_reply, key->second);
    if (!send_now(c.fd.get(), &confirm, sizeof confirm)) return false;
    c.state = Connection::State::open;
    write_out(c);
    static_cast<void>(watch(c));
    return true;
}

bool InterJobNetwork::on_confirm(Connection& c) {
    Confirm confirm{};
    if (!take(c.in, confirm)) return true;
    const auto key = keys_.find(c.hello.key);
    if (key == keys_.end() || !is_authentic(c.hello, c.hello_reply, confirm, key->second)) return false;
    c.external = by_name_.at(c.hello.from);
    ExternalPeer& f = external_peers_[static_cast<size_t>(c.external)];
    if (f.failed) return false; // already treated as failed: reject, so that the peer notices
    c.state = Connection::State::open;
    if (f.connection == 0) f.connection = c.number; // use it for the opposite direction too
    return true;
}

} // namespace zipmpi::interjob
