// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/interjob/connection_setup.hpp"

#include "os/clock.hpp"
#include "transport/interjob/sockets.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace zipmpi::interjob {
namespace {

constexpr uint64_t second_ns = 1'000'000'000;
constexpr uint64_t dial_ns = 5 * second_ns;
constexpr uint64_t handshake_ns = 10 * second_ns;
constexpr uint64_t parked_ns = 120 * second_ns;                // until this process receives the key
constexpr uint64_t authenticated_timeout_ns = 600 * second_ns; // an authenticated peer may be computing
constexpr uint32_t max_rounds = 3;                             // over all addresses
constexpr size_t max_unauthenticated = 256;                    // a process often may open 1024 descriptors
constexpr uint64_t silent_ns = second_ns; // until a silent connection makes room for another
constexpr uint64_t check_interval_ns = second_ns / 20;
constexpr uint64_t reply_timeout_ns = 20 * second_ns; // for a reply, before another address is tried

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

Connection* ConnectionSetup::dial_peer(int external) {
    Connection& c = table_.add(os::Fd(), Connection::State::dialing, os::now_ns() + handshake_ns);
    c.external = external;
    peers_.at(external).connection = c.number;
    if (dial_next(c)) return &c;
    peers_.add_failure(external);
    return nullptr;
}

// Dials this address or the next ones. Returns false if none is usable.
bool ConnectionSetup::dial_next(Connection& c) {
    const ExternalPeer& f = peers_.at(c.external);
    const uint32_t addresses = address_count(f.contact);
    c.state = Connection::State::dialing;
    c.in.clear();
    for (; c.setup.attempts < max_rounds * addresses;
         ++c.setup.attempts, c.setup.address_index = (c.setup.address_index + 1) % addresses) {
        c.fd = dial(f.contact, c.setup.address_index);
        if (!c.fd && errno == EAGAIN) // its listen queue is full: retry in check_timeouts()
            return c.setup.deadline_ns >= os::now_ns();
        c.setup.deadline_ns = os::now_ns() + dial_ns;
        if (c.fd && table_.start_watching(c)) return true;
    }
    return false;
}

bool ConnectionSetup::try_next_address(Connection& c) {
    c.fd.reset();
    ++c.setup.attempts;
    c.setup.address_index =
        (c.setup.address_index + 1) % std::max(1U, address_count(peers_.at(c.external).contact));
    return dial_next(c);
}

void ConnectionSetup::on_connected(Connection& c) {
    int error = 0;
    socklen_t length = sizeof error;
    const ExternalPeer& f = peers_.at(c.external);
    c.setup.hello = make_hello(f.key, own_, f.contact.name);
    if (getsockopt(c.fd.get(), SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0 &&
        send_now(c.fd.get(), &c.setup.hello, sizeof c.setup.hello)) {
        c.state = Connection::State::hello_sent;
        c.setup.deadline_ns = os::now_ns() + 4 * dial_ns;
        table_.update_watch(c);
        return;
    }
    c.broken = !try_next_address(c);
}

void ConnectionSetup::accept_connection(int listener) {
    os::Fd fd = accept_on(listener);
    if (!fd || !evict_silent()) return;
    Connection& c = table_.add(std::move(fd), Connection::State::hello_awaited, os::now_ns() + handshake_ns);
    c.broken = !table_.start_watching(c);
}

// Whether another unauthenticated connection may be kept. A connection that has sent nothing for a while
// makes room: numbers increase, so the first found is the oldest.
bool ConnectionSetup::evict_silent() {
    const uint64_t silent_since = os::now_ns() + handshake_ns - silent_ns; // deadline of such a connection
    size_t unauthenticated = 0;
    Connection* silent = nullptr;
    for (const auto& [number, c] : table_.all()) {
        if (c->external >= 0 || c->broken) continue;
        ++unauthenticated;
        if (silent == nullptr && c->state == Connection::State::hello_awaited && c->in.empty() &&
            c->setup.deadline_ns <= silent_since)
            silent = c.get();
    }
    if (unauthenticated < max_unauthenticated) return true;
    if (silent == nullptr) return false;
    silent->fd.reset();
    table_.mark_broken(*silent);
    return true;
}

size_t ConnectionSetup::expected_bytes(Connection::State state) {
    switch (state) {
    case Connection::State::hello_awaited:
        return sizeof(Hello);
    case Connection::State::hello_sent:
        return sizeof(HelloReply);
    case Connection::State::reply_sent:
        return sizeof(Confirm);
    default:
        return 0;
    }
}

bool ConnectionSetup::on_handshake(Connection& c) {
    switch (c.state) {
    case Connection::State::hello_awaited:
        return !take(c.in, c.setup.hello) || on_hello(c);
    case Connection::State::hello_sent:
        return !take(c.in, c.setup.hello_reply) || on_hello_reply(c);
    case Connection::State::reply_sent:
        return on_confirm(c);
    default:
        return c.in.empty();
    }
}

bool ConnectionSetup::on_hello(Connection& c) {
    if (!is_hello(c.setup.hello) || c.setup.hello.to != own_) return false;
    const std::string* const key = peers_.find_key(c.setup.hello.key);
    if (key != nullptr) return reply_hello(c, *key);
    c.state = Connection::State::parked; // other ranks of its group may be ahead of this process
    c.setup.deadline_ns = os::now_ns() + parked_ns;
    return true;
}

bool ConnectionSetup::reply_hello(Connection& c, const std::string& key) {
    if (!is_authentic(c.setup.hello, key) || peers_.find(c.setup.hello.from) == ExternalPeers::none)
        return false;
    c.setup.hello_reply = make_hello_reply(c.setup.hello, key);
    c.state = Connection::State::reply_sent;
    c.setup.deadline_ns = os::now_ns() + authenticated_timeout_ns;
    return send_now(c.fd.get(), &c.setup.hello_reply, sizeof c.setup.hello_reply);
}

void ConnectionSetup::retry_parked() {
    for (const auto& [number, c] : table_.all()) {
        if (c->state != Connection::State::parked) continue;
        const std::string* const key = peers_.find_key(c->setup.hello.key);
        if (key != nullptr && peers_.find(c->setup.hello.from) != ExternalPeers::none)
            c->broken = !reply_hello(*c, *key);
    }
}

bool ConnectionSetup::on_hello_reply(Connection& c) {
    const std::string* const key =
        peers_.find_key(c.setup.hello.key); // may have been replaced by a newer one
    if (key == nullptr || !is_authentic(c.setup.hello, c.setup.hello_reply, *key)) return false;
    const Confirm confirm = make_confirm(c.setup.hello, c.setup.hello_reply, *key);
    if (!send_now(c.fd.get(), &confirm, sizeof confirm)) return false;
    c.state = Connection::State::open;
    writer_.write_out(c);
    table_.update_watch(c);
    return true;
}

bool ConnectionSetup::on_confirm(Connection& c) {
    Confirm confirm{};
    if (!take(c.in, confirm)) return true;
    const std::string* const key = peers_.find_key(c.setup.hello.key);
    if (key == nullptr || !is_authentic(c.setup.hello, c.setup.hello_reply, confirm, *key)) return false;
    c.external = peers_.find(c.setup.hello.from);
    ExternalPeer& f = peers_.at(c.external);
    if (f.failed) return false; // already treated as failed: reject, so that the peer notices
    c.state = Connection::State::open;
    if (f.connection == 0 && !c.bye_sent) f.connection = c.number; // use it for the opposite direction too
    return true;
}

void ConnectionSetup::check_timeouts() {
    const uint64_t now = os::now_ns();
    if (now - checked_ns_ < check_interval_ns) return;
    checked_ns_ = now;
    for (const auto& [number, c] : table_.all())
        if (!c->is_open() && !c->broken) check_timeout(*c, now);
}

void ConnectionSetup::check_timeout(Connection& c, uint64_t now) {
    if (c.state == Connection::State::dialing && !c.fd) { // dial again
        c.broken = !dial_next(c);
        return;
    }
    if (c.setup.deadline_ns > now) return;
    if (c.state == Connection::State::hello_sent) { // it may be computing, or be another process
        c.setup.deadline_ns = now + reply_timeout_ns;
        if (address_count(peers_.at(c.external).contact) == 1) return;
        c.setup.attempts = 0;
    }
    c.broken = !c.is_initiator() || !try_next_address(c);
}

} // namespace zipmpi::interjob
