// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/tree/child_acceptor.hpp"

#include "launch/protocol/crypto.hpp"
#include "os/clock.hpp"
#include "os/host.hpp"
#include "os/random.hpp"
#include "os/socket.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/epoll.h>
#include <sys/socket.h>

namespace zipmpi::launch {
namespace {

constexpr uint64_t handshake_timeout = 2'000'000'000; // ns from accept to authentication
constexpr size_t max_pending_children = 64;

} // namespace

ChildAcceptor::ChildAcceptor(EventLoop& loop, OnAuthenticated on_authenticated)
    : loop_(loop)
    , on_authenticated_(std::move(on_authenticated))
    , listener_source_(loop.add_source([this](uint32_t listener, uint32_t) { on_listener(listener); }))
    , pending_source_(loop.add_source([this](uint32_t index, uint32_t) { on_pending_child(index); })) {}

bool ChildAcceptor::listen(const LaunchTree& plan, Diagnostic& why) {
    pending_children_.resize(max_pending_children);
    for (SocketAddress& e : local_addresses(plan.interface)) {
        os::Fd s = listen_on(e);
        if (!s) continue;
        loop_.watch(s.get(), EPOLLIN, listener_source_, static_cast<uint32_t>(listeners_.size()));
        listeners_.push_back(std::move(s));
        addresses_.push_back(e);
    }
    if (!listeners_.empty()) return true;
    if (!os::port_range().empty()) {
        why = {"no port of this host is available for listening", "host " + os::host_name(),
               "net.ports is " + os::port_range() + ": " + std::strerror(errno),
               "set a range of free ports: ZIPMPI_NET_PORTS=20000-20999"};
        return false;
    }
    why = {"no address of this host is available for listening", "host " + os::host_name(),
           plan.interface.empty() ? "no network interface is up, not even the loopback one"
                                  : "the interface " + plan.interface + " is not up or does not exist",
           plan.interface.empty() ? "bring one up (ip link set lo up)"
                                  : "set another interface with --launch-interface; `ip address` lists them"};
    return false;
}

bool ChildAcceptor::begin_handshakes(const JobKey& secret, Diagnostic& why) {
    KeyBytes key = derive_key(secret, KeyPurpose::control);
    key_ = key;
    wipe(key);
    std::string reason;
    crypto_ = os::load_crypto(reason);
    if (crypto_ == nullptr) why = no_crypto(reason);
    return crypto_ != nullptr;
}

// When all slots are taken, the oldest unauthenticated connection is closed: a daemon needs only a moment.
void ChildAcceptor::on_listener(uint32_t listener) {
    if (listener >= listeners_.size()) return;
    os::Fd s(accept4(listeners_[listener].get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    Nonce nonce;
    if (!s || crypto_ == nullptr || !os::fill_random(nonce.data(), nonce.size())) return;
    Handshake::Exchange exchange = crypto_->new_exchange();
    if (exchange == nullptr) return;
    auto slot = std::min_element(pending_children_.begin(), pending_children_.end(),
                                 [](const PendingChild& a, const PendingChild& b) {
                                     return (a.socket ? a.deadline : 0) < (b.socket ? b.deadline : 0);
                                 });
    slot->socket = std::move(s);
    slot->handshake.emplace(key_, nonce, std::move(exchange));
    slot->deadline = os::now_ns() + handshake_timeout;
    tune_socket(slot->socket.get());
    const std::string opening = slot->handshake->take_output();
    if (::send(slot->socket.get(), opening.data(), opening.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(opening.size()))
        return slot->socket.reset();
    loop_.watch(slot->socket.get(), EPOLLIN, pending_source_,
                static_cast<uint32_t>(slot - pending_children_.begin()));
}

void ChildAcceptor::on_pending_child(uint32_t index) {
    if (index >= pending_children_.size() || !pending_children_[index].socket) return;
    PendingChild& s = pending_children_[index];
    char buffer[sizeof(HandshakeResponse)];
    const ssize_t n = recv(s.socket.get(), buffer, std::min(sizeof buffer, s.handshake->bytes_needed()), 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) return s.socket.reset();
    s.handshake->feed({buffer, static_cast<size_t>(n)});
    if (s.handshake->state() == HandshakeState::in_progress) return;
    loop_.unwatch(s.socket.get());
    os::Fd socket = std::move(s.socket);
    if (s.handshake->state() != HandshakeState::authenticated) return;
    Authenticated child{s.handshake->node(), std::move(socket), s.handshake->take_output(),
                        std::make_unique<RecordChannel>(*crypto_, s.handshake->record_keys())};
    s.handshake.reset();
    on_authenticated_(std::move(child)); // may close()
}

void ChildAcceptor::on_time(uint64_t now) {
    for (PendingChild& s : pending_children_)
        if (s.socket && now >= s.deadline) s.socket.reset();
}

uint64_t ChildAcceptor::next_time() const {
    uint64_t next = UINT64_MAX;
    for (const PendingChild& s : pending_children_)
        if (s.socket) next = std::min(next, s.deadline);
    return next;
}

void ChildAcceptor::close() {
    listeners_.clear();
    pending_children_.clear();
    wipe(key_);
}

} // namespace zipmpi::launch
