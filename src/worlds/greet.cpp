// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Connections until both ends have proven who they are.
#include "worlds/network.hpp"

#include "os/clock.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/epoll.h>
#include <sys/socket.h>

namespace zipmpi::worlds {
namespace {

constexpr uint64_t second_ns = 1'000'000'000;
constexpr uint64_t dial_ns = 5 * second_ns;
constexpr uint64_t stranger_ns = 10 * second_ns;
constexpr uint64_t parked_ns = 120 * second_ns; // until this process hears of the key
constexpr uint64_t proven_ns = 600 * second_ns; // who has the key may be computing
constexpr uint32_t most_rounds = 3;             // through all ways
constexpr size_t most_strangers = 1024;

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

bool WorldsNetwork::watch(Connection& c, bool add) {
    epoll_event e{};
    const bool out = c.state == Connection::State::dialling || (c.is_open() && !c.out.empty());
    e.events = EPOLLIN | (out ? EPOLLOUT : 0U);
    e.data.u64 = c.number;
    c.watches_out = out;
    return epoll_ctl(epoll_.get(), add ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, c.fd.get(), &e) == 0;
}

Connection& WorldsNetwork::add_connection(os::Fd fd, Connection::State state) {
    auto made = std::make_unique<Connection>();
    Connection& c = *made;
    c.number = next_connection_++;
    c.state = state;
    c.fd = std::move(fd);
    c.until_ns = os::now_ns() + stranger_ns;
    connections_.emplace(c.number, std::move(made));
    return c;
}

// By this way, or those after it. False: none leads there.
bool WorldsNetwork::dial_on(Connection& c) {
    const Foreign& f = foreign_[static_cast<size_t>(c.foreign)];
    const uint32_t ways = ways_to(f.card);
    c.state = Connection::State::dialling;
    c.in.clear();
    for (; c.tries < most_rounds * ways; ++c.tries, c.way = (c.way + 1) % ways) {
        c.fd = dial(f.card, c.way);
        if (!c.fd && errno == EAGAIN) // it has many callers: again at the next look at the clock
            return c.until_ns >= os::now_ns();
        c.until_ns = os::now_ns() + dial_ns;
        if (c.fd && watch(c, true)) return true;
    }
    return false;
}

bool WorldsNetwork::next_way(Connection& c) {
    c.fd.reset();
    ++c.tries;
    c.way = (c.way + 1) % std::max(1U, ways_to(foreign_[static_cast<size_t>(c.foreign)].card));
    return dial_on(c);
}

void WorldsNetwork::connected(Connection& c) {
    int error = 0;
    socklen_t length = sizeof error;
    const Foreign& f = foreign_[static_cast<size_t>(c.foreign)];
    c.hello = make_hello(f.key, card_.name, f.card.name);
    if (getsockopt(c.fd.get(), SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0 &&
        send_now(c.fd.get(), &c.hello, sizeof c.hello)) {
        c.state = Connection::State::said_hello;
        c.until_ns = os::now_ns() + 4 * dial_ns;
        static_cast<void>(watch(c));
        return;
    }
    c.broken = !next_way(c);
}

void WorldsNetwork::answer_callers(int listener) {
    const auto strangers = static_cast<size_t>(
        std::ranges::count_if(connections_, [](const auto& one) { return one.second->foreign < 0; }));
    os::Fd fd = answer(listener);
    if (!fd || strangers >= most_strangers) return;
    Connection& c = add_connection(std::move(fd), Connection::State::answering);
    c.broken = !watch(c, true);
}

// One more greeting if it is there. False: it is nonsense.
bool WorldsNetwork::take_greeting(Connection& c) {
    switch (c.state) {
    case Connection::State::answering:
        return !take(c.in, c.hello) || take_hello(c);
    case Connection::State::said_hello:
        return !take(c.in, c.welcome) || take_welcome(c);
    case Connection::State::said_welcome:
        return take_proof(c);
    default:
        return c.in.empty();
    }
}

bool WorldsNetwork::take_hello(Connection& c) {
    if (!is_hello(c.hello) || c.hello.to != card_.name) return false;
    const auto key = keys_.find(c.hello.key);
    if (key != keys_.end()) return answer_hello(c, key->second);
    c.state = Connection::State::parked; // the others of its group may be ahead of this process
    c.until_ns = os::now_ns() + parked_ns;
    return true;
}

bool WorldsNetwork::answer_hello(Connection& c, const std::string& key) {
    if (!is_proven(c.hello, key) || by_name_.count(c.hello.from) == 0) return false;
    c.welcome = make_welcome(c.hello, key);
    c.state = Connection::State::said_welcome;
    c.until_ns = os::now_ns() + proven_ns;
    return send_now(c.fd.get(), &c.welcome, sizeof c.welcome);
}

void WorldsNetwork::look_at_parked() {
    for (const auto& [number, c] : connections_) {
        if (c->state != Connection::State::parked) continue;
        const auto key = keys_.find(c->hello.key);
        if (key != keys_.end() && by_name_.count(c->hello.from) != 0)
            c->broken = !answer_hello(*c, key->second);
    }
}

bool WorldsNetwork::take_welcome(Connection& c) {
    const auto key = keys_.find(c.hello.key); // there may be a newer one
    if (key == keys_.end() || !is_proven(c.hello, c.welcome, key->second)) return false;
    const Proof proof = make_proof(c.hello, c.welcome, key->second);
    if (!send_now(c.fd.get(), &proof, sizeof proof)) return false;
    c.state = Connection::State::open;
    write_out(c);
    static_cast<void>(watch(c));
    return true;
}

bool WorldsNetwork::take_proof(Connection& c) {
    Proof proof{};
    if (!take(c.in, proof)) return true;
    const auto key = keys_.find(c.hello.key);
    if (key == keys_.end() || !is_proven(c.hello, c.welcome, proof, key->second)) return false;
    c.foreign = by_name_.at(c.hello.from);
    Foreign& f = foreign_[static_cast<size_t>(c.foreign)];
    if (f.lost) return false; // it counts as failed here, and must see that
    c.state = Connection::State::open;
    if (f.out == 0) f.out = c.number; // what goes back takes the same one
    return true;
}

} // namespace zipmpi::worlds
