// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/discovery/probe.hpp"

#include "os/clock.hpp"
#include "os/socket.hpp"
#include "transport/auth/nonce.hpp"
#include "transport/discovery/rdma_ports.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sstream>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace zipmpi::transport::discovery {
namespace {

constexpr uint64_t ms = 1'000'000;
constexpr uint64_t handshake_timeout = 2000 * ms; // from connect to authentication
constexpr size_t max_connections = 64;
constexpr int backlog = 64;
constexpr uint64_t grace = 10 * ms;
constexpr uint64_t check_interval = 100 * ms; // for partners that may be restarted

sockaddr_in socket_address(const std::string& address, int port) {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_port = htons(static_cast<uint16_t>(port));
    inet_pton(AF_INET, address.c_str(), &a.sin_addr);
    return a;
}

std::string text_of(const sockaddr_in& a) {
    char text[INET_ADDRSTRLEN] = {};
    inet_ntop(AF_INET, &a.sin_addr, text, sizeof text);
    return text;
}

// Interfaces that are up. The loopback reaches only nodes emulated on this host.
std::vector<Interface> usable_interfaces() {
    std::vector<Interface> found;
    std::vector<Interface> loopback;
    ifaddrs* all = nullptr;
    if (getifaddrs(&all) != 0) return found;
    for (const ifaddrs* i = all; i != nullptr; i = i->ifa_next) {
        if (i->ifa_addr == nullptr || i->ifa_addr->sa_family != AF_INET || (i->ifa_flags & IFF_UP) == 0)
            continue;
        sockaddr_in a{};
        std::memcpy(&a, i->ifa_addr, sizeof a);
        ((i->ifa_flags & IFF_LOOPBACK) != 0 ? loopback : found).push_back({i->ifa_name, text_of(a)});
    }
    freeifaddrs(all);
    found.insert(found.end(), loopback.begin(), loopback.end());
    return found;
}

int new_socket() { return socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }

} // namespace

TcpDeviceProbe::TcpDeviceProbe(int own_rank, const auth::HandshakeKeys& keys)
    : own_rank_(own_rank)
    , keys_(keys) {
    auth::fill_random(nonce_);
}

TcpDeviceProbe::~TcpDeviceProbe() {
    for (const Listener& l : listeners_) close(l.fd);
    for (const ProbeConnection& t : connections_) close(t.fd);
}

std::string TcpDeviceProbe::listen() {
    std::string text;
    for (const Interface& i : usable_interfaces()) {
        const int fd = new_socket();
        sockaddr_in a = socket_address(i.address, 0);
        if (fd < 0 || !os::listen_tcp(fd, reinterpret_cast<sockaddr*>(&a), sizeof a, backlog)) {
            if (fd >= 0) close(fd);
            continue;
        }
        listeners_.push_back({fd, i});
        text += (text.empty() ? "" : "+") + i.address + "+" + std::to_string(ntohs(a.sin_port));
    }
    return text;
}

void TcpDeviceProbe::begin_connecting(const std::string& addresses) {
    tried_ = addresses;
    std::string text = addresses;
    std::replace(text.begin(), text.end(), '+', ' ');
    std::istringstream in(text);
    std::string address;
    int port = 0;
    while (connections_.size() < max_connections && in >> address >> port) {
        const int fd = new_socket();
        const sockaddr_in a = socket_address(address, port);
        if (fd < 0) continue;
        if (connect(fd, reinterpret_cast<const sockaddr*>(&a), sizeof a) != 0 && errno != EINPROGRESS) {
            append_log(address + ": " + std::strerror(errno));
            close(fd);
            continue;
        }
        // No deadline per connection: a partner without CPU time replies late, and only once.
        connections_.push_back({fd, true, false, address, {}, UINT64_MAX});
    }
}

void TcpDeviceProbe::accept_from(const Listener& listener) {
    const int fd = accept4(listener.fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    if (connections_.size() >= max_connections) {
        close(fd);
        return;
    }
    connections_.push_back(
        {fd, false, true, listener.interface.address, {}, os::now_ns() + handshake_timeout});
}

void TcpDeviceProbe::connect_to_current(const ProbeRequest& search) {
    if (reached_) return;
    const std::string now = search.listener->current_addresses();
    if (!now.empty() && now != tried_) begin_connecting(now);
}

void TcpDeviceProbe::report_found() {
    if (request_->listener == nullptr || reported_ == devices_) return;
    reported_ = devices_;
    request_->listener->found(devices_);
}

void TcpDeviceProbe::append_log(const std::string& what) { log_ += (log_.empty() ? "" : "; ") + what; }

// Adds the device of the connection's local address.
void TcpDeviceProbe::add_device_of(int fd, const std::string& how) {
    sockaddr_in a{};
    socklen_t length = sizeof a;
    if (getsockname(fd, reinterpret_cast<sockaddr*>(&a), &length) != 0) return;
    const std::string own = text_of(a);
    for (const Listener& l : listeners_) {
        if (l.interface.address != own) continue;
        append_log(l.interface.name + " " + how);
        if (add_device(l.interface.name)) add_rdma_on(l.interface.name);
        return;
    }
}

bool TcpDeviceProbe::add_device(const std::string& device) {
    const std::string with_commas = "," + devices_ + ",";
    if (with_commas.find("," + device + ",") != std::string::npos) return false;
    devices_ += (devices_.empty() ? "" : ",") + device;
    return true;
}

// The interface stays in the list: hosts without RDMA are reached through it.
void TcpDeviceProbe::add_rdma_on(const std::string& interface) {
    for (const RdmaPort& port : rdma_ports_of(interface)) {
        if (!port.error.empty())
            append_log(port.name + " on it is not usable: " + port.error);
        else if (add_device(port.name))
            append_log(port.name + " provides RDMA on it");
    }
}

bool TcpDeviceProbe::on_reply(ProbeConnection& connection, int next) {
    auth::VerifiedMessage reply;
    if (auth::verify(std::as_bytes(std::span(connection.in)), wire::net_probe_reply, own_rank_, keys_,
                     reply) &&
        reply.message.from == next && std::memcmp(reply.message.nonce, nonce_, sizeof nonce_) == 0) {
        reached_ = true;
        add_device_of(connection.fd, "reaches rank " + std::to_string(next) + " at " + connection.target);
    } else {
        append_log(connection.target + ": the reply is not from this job");
    }
    return false;
}

bool TcpDeviceProbe::on_request(ProbeConnection& connection) {
    auth::VerifiedMessage question;
    if (!auth::verify(std::as_bytes(std::span(connection.in)), wire::net_probe, own_rank_, keys_, question) ||
        (std::ranges::count(incoming_, question.message.from) == 0 &&
         std::ranges::count(replied_, question.message.from) == 0))
        return false;
    const int partner = question.message.from;
    const std::string reply = auth::sign(
        {.kind = wire::net_probe_reply, .from = own_rank_, .to = partner, .nonce = question.message.nonce},
        {}, keys_);
    add_device_of(connection.fd, "is reached by rank " + std::to_string(partner));
    report_found(); // first: the partner may exit before this rank is queried for its devices
    if (send(connection.fd, reply.data(), reply.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(reply.size())) {
        if (std::erase(incoming_, partner) != 0)
            replied_.push_back(partner); // it may also connect through another device
    }
    shutdown(connection.fd, SHUT_WR);
    return false;
}

// Handles a readable or newly established connection.
bool TcpDeviceProbe::serve(ProbeConnection& connection, int next) {
    if (connection.is_initiator && connection.in.empty()) {
        int error = 0;
        socklen_t length = sizeof error;
        getsockopt(connection.fd, SOL_SOCKET, SO_ERROR, &error, &length);
        if (error != 0) {
            append_log(connection.target + ": " + std::strerror(error));
            return false;
        }
    }
    char bytes[sizeof(wire::HandshakeMessage)];
    const ssize_t n = recv(connection.fd, bytes, sizeof bytes - connection.in.size(), 0);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != ENOTCONN)) return false;
    if (n > 0) connection.in.append(bytes, static_cast<size_t>(n));
    if (connection.in.size() < sizeof(wire::HandshakeMessage)) return true;
    return connection.is_initiator ? on_reply(connection, next) : on_request(connection);
}

void TcpDeviceProbe::serve_all(const std::vector<pollfd>& fds, const std::string& question, int next) {
    std::vector<ProbeConnection> kept;
    for (size_t i = 0; i < connections_.size(); ++i) {
        ProbeConnection& t = connections_[i];
        const short what = fds[listeners_.size() + i].revents;
        bool goes_on = os::now_ns() < t.deadline_ns;
        if (what != 0 && goes_on) goes_on = serve(t, next);
        if (goes_on && (what & POLLOUT) != 0 && !std::exchange(t.request_sent, true))
            goes_on = send(t.fd, question.data(), question.size(), MSG_NOSIGNAL) ==
                      static_cast<ssize_t>(question.size());
        if (goes_on)
            kept.push_back(std::move(t));
        else
            close(t.fd);
    }
    connections_ = std::move(kept);
}

bool TcpDeviceProbe::run(const ProbeRequest& search) {
    request_ = &search;
    incoming_.assign(search.incoming.begin(), search.incoming.end());
    begin_connecting(search.addresses);
    const std::string question = auth::sign(
        {.kind = wire::net_probe, .from = own_rank_, .to = search.next, .nonce = nonce_}, {}, keys_);
    const bool checks = search.listener != nullptr;
    uint64_t deadline = os::now_ns() + static_cast<uint64_t>(search.limit_ms) * ms;
    uint64_t next_check = checks ? os::now_ns() + check_interval : deadline;
    bool all = false;
    for (uint64_t now = os::now_ns(); now < deadline; now = os::now_ns()) {
        std::vector<pollfd> fds;
        for (const Listener& l : listeners_) fds.push_back({l.fd, POLLIN, 0});
        for (const ProbeConnection& t : connections_)
            fds.push_back({t.fd, static_cast<short>(t.request_sent ? POLLIN : POLLOUT), 0});
        poll(fds.data(), fds.size(),
             static_cast<int>((std::max(std::min(deadline, next_check), now) - now) / ms) + 1);
        serve_all(fds, question, search.next);
        for (size_t i = 0; i < listeners_.size(); ++i)
            if (fds[i].revents != 0) accept_from(listeners_[i]);
        if (reached_ && incoming_.empty() && !std::exchange(all, true))
            deadline = std::min(deadline, os::now_ns() + grace); // for further devices
        if (!checks || os::now_ns() < next_check) continue;
        next_check = os::now_ns() + check_interval;
        if (search.listener->is_complete()) break;
        connect_to_current(search);
    }
    return reached_ && incoming_.empty();
}

} // namespace zipmpi::transport::discovery
