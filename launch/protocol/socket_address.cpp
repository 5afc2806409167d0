// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/protocol/socket_address.hpp"

#include "os/socket.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace zipmpi::launch {
namespace {

constexpr size_t v4_bytes = 4;
constexpr size_t v6_bytes = 16;
constexpr int backlog = 64;

// Empty if other hosts cannot use the address (link-local addresses need a zone).
std::string address_bytes(const sockaddr* a) {
    if (a == nullptr) return {};
    if (a->sa_family == AF_INET) {
        sockaddr_in v4{};
        std::memcpy(&v4, a, sizeof v4);
        return {reinterpret_cast<const char*>(&v4.sin_addr), v4_bytes};
    }
    if (a->sa_family != AF_INET6) return {};
    sockaddr_in6 v6{};
    std::memcpy(&v6, a, sizeof v6);
    if (IN6_IS_ADDR_LINKLOCAL(&v6.sin6_addr) || IN6_IS_ADDR_MULTICAST(&v6.sin6_addr)) return {};
    return {reinterpret_cast<const char*>(&v6.sin6_addr), v6_bytes};
}

socklen_t to_sockaddr(const SocketAddress& e, sockaddr_storage& out) {
    out = {};
    if (e.address.size() == v4_bytes) {
        sockaddr_in v4{};
        v4.sin_family = AF_INET;
        v4.sin_port = htons(static_cast<uint16_t>(e.port));
        std::memcpy(&v4.sin_addr, e.address.data(), v4_bytes);
        std::memcpy(&out, &v4, sizeof v4);
        return sizeof v4;
    }
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(static_cast<uint16_t>(e.port));
    std::memcpy(&v6.sin6_addr, e.address.data(), v6_bytes);
    std::memcpy(&out, &v6, sizeof v6);
    return sizeof v6;
}

os::Fd tcp_socket(const SocketAddress& e) {
    return os::Fd(socket(e.address.size() == v4_bytes ? AF_INET : AF_INET6,
                         SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

} // namespace

std::vector<SocketAddress> local_addresses(const std::string& interface) {
    std::vector<SocketAddress> found;
    std::vector<SocketAddress> loopback;
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) != 0) return found;
    for (const ifaddrs* i = list; i != nullptr; i = i->ifa_next) {
        if ((i->ifa_flags & IFF_UP) == 0 || (!interface.empty() && interface != i->ifa_name)) continue;
        const std::string bytes = address_bytes(i->ifa_addr);
        if (bytes.empty() || found.size() + loopback.size() == max_socket_addresses) continue;
        ((i->ifa_flags & IFF_LOOPBACK) != 0 ? loopback : found).push_back({bytes, 0});
    }
    freeifaddrs(list);
    found.insert(found.end(), loopback.begin(), loopback.end());
    return found;
}

os::Fd listen_on(SocketAddress& at) {
    os::Fd s = tcp_socket(at);
    sockaddr_storage where{};
    const socklen_t size = to_sockaddr(at, where);
    if (!s || !os::listen_tcp(s.get(), reinterpret_cast<sockaddr*>(&where), size, backlog)) return {};
    // The port has one offset in both families.
    sockaddr_in head{};
    std::memcpy(&head, &where, sizeof head);
    at.port = ntohs(head.sin_port);
    return s;
}

os::Fd begin_connect(const SocketAddress& to) {
    os::Fd s = tcp_socket(to);
    sockaddr_storage where{};
    const socklen_t size = to_sockaddr(to, where);
    if (s && connect(s.get(), reinterpret_cast<sockaddr*>(&where), size) != 0 && errno != EINPROGRESS)
        return {};
    return s;
}

void tune_socket(int socket) {
    const int on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    // Limits the retransmission backoff: otherwise a network that was cut off for two seconds stays silent
    // for more than three, and its host is considered failed. Older kernels reject the option.
    constexpr int option_rto_max_ms = 44; // Linux 6.15
    constexpr int rto_max_ms = 1000;
    setsockopt(socket, IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS, &on, sizeof on);
    setsockopt(socket, IPPROTO_TCP, option_rto_max_ms, &rto_max_ms, sizeof rto_max_ms);
}

void encode(PayloadWriter& w, const std::vector<SocketAddress>& list) {
    w.u32(static_cast<uint32_t>(list.size()));
    for (const SocketAddress& e : list) w.text(e.address).u32(e.port);
}

bool decode(PayloadReader& r, std::vector<SocketAddress>& list) {
    list.resize(r.count(8));
    if (list.size() > max_socket_addresses) return false;
    for (SocketAddress& e : list) {
        e.address = r.text();
        e.port = r.u32();
        if (e.port > 0xffff || (e.address.size() != v4_bytes && e.address.size() != v6_bytes)) return false;
    }
    return r.ok();
}

std::string to_text(const SocketAddress& e) {
    char text[INET6_ADDRSTRLEN] = "?";
    const bool v4 = e.address.size() == v4_bytes;
    inet_ntop(v4 ? AF_INET : AF_INET6, e.address.data(), text, sizeof text);
    return (v4 ? std::string(text) : "[" + std::string(text) + "]") + ":" + std::to_string(e.port);
}

} // namespace zipmpi::launch
