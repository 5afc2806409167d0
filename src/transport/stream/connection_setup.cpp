// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/stream/connection_setup.hpp"

#include "os/clock.hpp"
#include "transport/stream/sockets.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace zipmpi::transport::stream {
namespace {

constexpr uint64_t second_ns = 1'000'000'000;
constexpr uint64_t dial_ns = 5 * second_ns;
constexpr uint64_t handshake_ns = 10 * second_ns;
constexpr uint64_t parked_ns = 120 * second_ns;                // until this process receives the key
constexpr uint64_t authenticated_timeout_ns = 600 * second_ns; // an authenticated peer may be computing
constexpr uint32_t max_rounds = 3;                             // over all addresses
constexpr uint64_t patience_ns = 10 * second_ns;
constexpr size_t max_unauthenticated = 256; // a process often may open 1024 descriptors
constexpr size_t max_unconfirmed = 4;       // of one peer: its hello may have been recorded and sent again
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

Connection* ConnectionSetup::dial_peer(int peer) {
    Connection& c = table_.add(os::Fd(), Connection::State::dialing, os::now_ns() + handshake_ns);
    c.peer = peer;
    // Who detects failures is told immediately; others report them while this process goes on trying.
    if (!peers_.detects_failure_of(peer)) c.setup.give_up_ns = os::now_ns() + patience_ns;
    peers_.link(peer).connection = &c;
    if (dial_next(c)) return &c;
    table_.mark_broken(c);
    return nullptr;
}

// Dials this address or the next ones. Returns false if none is usable.
bool ConnectionSetup::dial_next(Connection& c) {
    const ContactInfo& contact = peers_.contact_of(c.peer);
    const uint32_t addresses = address_count(contact);
    c.state = Connection::State::dialing;
    c.in.clear();
    for (; c.setup.attempts < max_rounds * addresses;
         ++c.setup.attempts, c.setup.address_index = (c.setup.address_index + 1) % addresses) {
        c.fd = dial(contact, c.setup.address_index);
        if (!c.fd && errno == EAGAIN) // its listen queue is full: retry in check_timeouts()
            return c.setup.deadline_ns >= os::now_ns();
        c.setup.deadline_ns = os::now_ns() + dial_ns;
        if (c.fd && table_.start_watching(c)) return true;
    }
    c.setup.attempts = 0; // again later, if there is time: it may refuse because its queue is full
    c.fd.reset();
    return os::now_ns() < c.setup.give_up_ns;
}

bool ConnectionSetup::try_next_address(Connection& c) {
    c.fd.reset();
    ++c.setup.attempts;
    c.setup.address_index =
        (c.setup.address_index + 1) % std::max(1U, address_count(peers_.contact_of(c.peer)));
    return dial_next(c);
}

void ConnectionSetup::on_connected(Connection& c) {
    int error = 0;
    socklen_t length = sizeof error;
    c.setup.hello = make_hello(peers_.key_of(c.peer), peers_.own_name(c.peer), peers_.contact_of(c.peer).name,
                               config_.sealing.options());
    if (getsockopt(c.fd.get(), SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0 &&
        send_now(c.fd.get(), &c.setup.hello, sizeof c.setup.hello)) {
        c.state = Connection::State::hello_sent;
        c.setup.deadline_ns = os::now_ns() + 4 * dial_ns;
        table_.update_watch(c);
        return;
    }
    if (!try_next_address(c)) table_.mark_broken(c);
}

void ConnectionSetup::accept_connection(int listener) {
    os::Fd fd = accept_on(listener);
    if (!fd) return;
    evict_unauthenticated();
    Connection& c = table_.add(std::move(fd), Connection::State::hello_awaited, os::now_ns() + handshake_ns);
    if (!table_.start_watching(c)) table_.mark_broken(c);
}

// Makes room for another connection that has not proven anything yet. Numbers increase, so the first found is
// the oldest.
void ConnectionSetup::evict_unauthenticated() {
    size_t unauthenticated = 0;
    Connection* first[3] = {}; // one that has sent nothing, part of a hello, a hello with an unknown key
    for (const auto& [number, c] : table_.all()) {
        const bool parked = c->state == Connection::State::parked;
        if (c->is_broken() || (c->state != Connection::State::hello_awaited && !parked)) continue;
        ++unauthenticated;
        Connection*& oldest = first[parked ? 2 : c->in.empty() ? 0 : 1];
        if (oldest == nullptr) oldest = c.get();
    }
    if (unauthenticated < max_unauthenticated) return;
    Connection& evicted = **std::ranges::find_if(first, [](const Connection* c) { return c != nullptr; });
    evicted.fd.reset();
    table_.mark_broken(evicted);
}

// A peer that dials again has given up its earlier attempts.
void ConnectionSetup::evict_unconfirmed(const ProcessName& from) {
    size_t unconfirmed = 0;
    Connection* oldest = nullptr;
    for (const auto& [number, c] : table_.all()) {
        const ProcessName& other = c->setup.hello.from;
        if (c->is_broken() || c->state != Connection::State::reply_sent || other.job != from.job ||
            other.rank != from.rank)
            continue;
        ++unconfirmed;
        if (oldest == nullptr) oldest = c.get();
    }
    if (unconfirmed < max_unconfirmed) return;
    oldest->fd.reset();
    table_.mark_broken(*oldest);
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
    if (!is_hello(c.setup.hello, config_.sealing.options()) || c.setup.hello.to != config_.own) return false;
    const std::string_view key = peers_.find_key(c.setup.hello);
    if (!key.empty()) return reply_hello(c, key);
    c.state = Connection::State::parked; // other ranks of its group may be ahead of this process
    c.setup.deadline_ns = os::now_ns() + parked_ns;
    return true;
}

bool ConnectionSetup::reply_hello(Connection& c, std::string_view key) {
    if (!is_authentic(c.setup.hello, key) || peers_.find(c.setup.hello.from) == PeerSet::none) return false;
    evict_unconfirmed(c.setup.hello.from);
    c.setup.hello_reply = make_hello_reply(c.setup.hello, key);
    c.state = Connection::State::reply_sent;
    c.setup.deadline_ns = os::now_ns() + authenticated_timeout_ns;
    return send_now(c.fd.get(), &c.setup.hello_reply, sizeof c.setup.hello_reply);
}

void ConnectionSetup::retry_parked() {
    for (const auto& [number, c] : table_.all()) {
        if (c->state != Connection::State::parked) continue;
        const std::string_view key = peers_.find_key(c->setup.hello);
        if (!key.empty() && peers_.find(c->setup.hello.from) != PeerSet::none && !reply_hello(*c, key))
            table_.mark_broken(*c);
    }
}

bool ConnectionSetup::on_hello_reply(Connection& c) {
    const std::string_view key = peers_.find_key(c.setup.hello); // the peer may have a newer one by now
    if (key.empty() || !is_authentic(c.setup.hello, c.setup.hello_reply, key)) return false;
    const Confirm confirm = make_confirm(c.setup.hello, c.setup.hello_reply, key);
    if (!send_now(c.fd.get(), &confirm, sizeof confirm)) return false;
    begin_frames(c, key, Side::dialing);
    writer_.write_out(c);
    table_.update_watch(c);
    if (peers_.link(c.peer).connection == &c) peers_.connected(c.peer);
    return true;
}

bool ConnectionSetup::on_confirm(Connection& c) {
    Confirm confirm{};
    if (!take(c.in, confirm)) return true;
    const std::string_view key = peers_.find_key(c.setup.hello);
    if (key.empty() || !is_authentic(c.setup.hello, c.setup.hello_reply, confirm, key)) return false;
    const int peer = peers_.find(c.setup.hello.from);
    if (!peers_.admit(peer, c.setup.hello)) return false;
    c.peer = peer;
    begin_frames(c, key, Side::accepting);
    PeerLink& link = peers_.link(peer);
    const bool has_other =
        link.connection != nullptr && (link.connection->is_open() || link.connection->has_output());
    if (has_other || c.bye_sent) return true;
    link.connection = &c; // use it for the opposite direction too
    peers_.connected(peer);
    return true;
}

void ConnectionSetup::begin_frames(Connection& c, std::string_view key, Side side) {
    c.state = Connection::State::open;
    table_.count_event();
    if (config_.sealing.crypto != nullptr)
        c.sealed = seal_stream(config_.sealing, c.setup.hello, c.setup.hello_reply, key, side);
}

void ConnectionSetup::check_timeouts() {
    const uint64_t now = os::now_ns();
    if (now - checked_ns_ < check_interval_ns) return;
    checked_ns_ = now;
    for (const auto& [number, c] : table_.all())
        if (!c->is_open() && !c->is_broken()) check_timeout(*c, now);
}

void ConnectionSetup::check_timeout(Connection& c, uint64_t now) {
    if (c.state == Connection::State::dialing && !c.fd) { // dial again
        if (!dial_next(c)) table_.mark_broken(c);
        return;
    }
    if (c.setup.deadline_ns > now) return;
    if (c.state == Connection::State::hello_sent) { // it may be computing, or be another process
        c.setup.deadline_ns = now + reply_timeout_ns;
        if (address_count(peers_.contact_of(c.peer)) == 1) return;
        c.setup.attempts = 0;
    }
    if (!c.is_initiator() || !try_next_address(c)) table_.mark_broken(c);
}

} // namespace zipmpi::transport::stream
