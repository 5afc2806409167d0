// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/stream/connection_table.hpp"

#include <sys/epoll.h>
#include <utility>

namespace zipmpi::transport::stream {

ConnectionTable::ConnectionTable()
    : epoll_(epoll_create1(EPOLL_CLOEXEC)) {}

Connection& ConnectionTable::add(os::Fd fd, Connection::State state, uint64_t deadline_ns) {
    auto made = std::make_unique<Connection>();
    Connection& c = *made;
    c.number = next_number_++;
    c.state = state;
    c.fd = std::move(fd);
    c.setup.deadline_ns = deadline_ns;
    connections_.emplace(c.number, std::move(made));
    return c;
}

Connection* ConnectionTable::find(uint64_t number) const {
    const auto found = connections_.find(number);
    return found != connections_.end() ? found->second.get() : nullptr;
}

bool ConnectionTable::watch_descriptor(int fd, uint64_t key) {
    epoll_event e{};
    e.events = EPOLLIN;
    e.data.u64 = key;
    return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &e) == 0;
}

bool ConnectionTable::control(Connection& c, int operation) {
    epoll_event e{};
    const bool out = c.state == Connection::State::dialing || (c.is_open() && c.has_output());
    e.events = EPOLLIN | (out ? EPOLLOUT : 0U);
    e.data.u64 = c.number;
    forget_blocked(c);
    if (out) ++blocked_;
    c.watches_writable = out;
    return epoll_ctl(epoll_.get(), operation, c.fd.get(), &e) == 0;
}

bool ConnectionTable::start_watching(Connection& c) { return control(c, EPOLL_CTL_ADD); }

void ConnectionTable::forget_blocked(Connection& c) {
    if (std::exchange(c.watches_writable, false)) --blocked_;
}

void ConnectionTable::update_watch(Connection& c) { static_cast<void>(control(c, EPOLL_CTL_MOD)); }

} // namespace zipmpi::transport::stream
