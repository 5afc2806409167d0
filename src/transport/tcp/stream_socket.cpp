// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tcp/stream_socket.hpp"

#include "os/socket.hpp"

#include <arpa/inet.h>
#include <cstring>
#include <ifaddrs.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace zipmpi::transport::tcp {
namespace {

bool find_address(const std::string& device, wire::StreamOffer& offer) {
    ifaddrs* all = nullptr;
    if (getifaddrs(&all) != 0) return false;
    bool found = false;
    for (const ifaddrs* i = all; i != nullptr && !found; i = i->ifa_next) {
        if (i->ifa_addr == nullptr || i->ifa_addr->sa_family != AF_INET || device != i->ifa_name) continue;
        sockaddr_in a{};
        std::memcpy(&a, i->ifa_addr, sizeof a);
        std::memcpy(offer.address, &a.sin_addr, sizeof offer.address);
        found = true;
    }
    freeifaddrs(all);
    return found;
}

} // namespace

os::Fd new_socket() { return os::Fd(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)); }

sockaddr_in address_of(const wire::StreamOffer& offer) {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_port = htons(offer.port);
    std::memcpy(&a.sin_addr, offer.address, sizeof offer.address);
    return a;
}

os::Fd listen_on(const std::string& device, wire::StreamOffer& offer) {
    if (!find_address(device, offer)) return {};
    os::Fd fd = new_socket();
    sockaddr_in a = address_of(offer);
    if (!fd || !os::listen_tcp(fd.get(), reinterpret_cast<sockaddr*>(&a), sizeof a, SOMAXCONN)) return {};
    offer.port = ntohs(a.sin_port);
    return fd;
}

void disable_nagle(int fd) {
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

} // namespace zipmpi::transport::tcp
