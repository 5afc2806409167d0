// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "worlds/sockets.hpp"

#include "base/sha256.hpp"
#include "worlds/handshake.hpp"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace zipmpi::worlds {
namespace {

constexpr int backlog = 128;
constexpr int kind = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

uint64_t first_word(std::string_view bytes) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    return word;
}

socklen_t unix_address(uint64_t socket, sockaddr_un& a) {
    a = {};
    a.sun_family = AF_UNIX; // a name of the abstract namespace begins with a zero byte
    const int n = std::snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "zipmpi-world-%016" PRIx64, socket);
    return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<size_t>(n));
}

sockaddr_in tcp_address(const Endpoint& e) {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = e.address;
    a.sin_port = e.port;
    return a;
}

os::Fd listen_on_host(uint64_t& name) {
    name = first_word(random_bytes(sizeof name));
    os::Fd fd(socket(AF_UNIX, kind, 0));
    sockaddr_un a{};
    const socklen_t length = unix_address(name, a);
    if (fd && (bind(fd.get(), reinterpret_cast<const sockaddr*>(&a), length) != 0 ||
               listen(fd.get(), backlog) != 0))
        fd.reset();
    return fd;
}

os::Fd listen_on(uint32_t address, Endpoint& endpoint) {
    os::Fd fd(socket(AF_INET, kind, 0));
    endpoint = {address, 0, 0};
    sockaddr_in a = tcp_address(endpoint);
    socklen_t length = sizeof a;
    if (!fd || bind(fd.get(), reinterpret_cast<const sockaddr*>(&a), sizeof a) != 0 ||
        listen(fd.get(), backlog) != 0 ||
        getsockname(fd.get(), reinterpret_cast<sockaddr*>(&a), &length) != 0)
        return os::Fd();
    endpoint.port = a.sin_port;
    return fd;
}

bool is_here(const Card& card) {
    static const uint64_t here = host_number();
    return card.host == here;
}

bool is_listed(const std::string& devices, const std::string& name) {
    return devices.empty() || ("," + devices + ",").find("," + name + ",") != std::string::npos;
}

} // namespace

uint64_t host_number() {
    char id[64] = {};
    const os::Fd f(open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
    const ssize_t n = f ? read(f.get(), id, sizeof id) : 0;
    struct stat space {};
    if (stat("/proc/self/ns/net", &space) != 0) space.st_ino = 0;
    const std::string text =
        std::string(id, n > 0 ? static_cast<size_t>(n) : 0) + std::to_string(space.st_ino);
    return first_word(view(sha256(text)));
}

std::vector<os::Fd> listen_everywhere(const std::string& devices, Card& card) {
    std::vector<os::Fd> listeners;
    card.host = host_number();
    if (os::Fd fd = listen_on_host(card.socket)) listeners.push_back(std::move(fd));
    ifaddrs* all = nullptr;
    if (getifaddrs(&all) != 0) return listeners;
    for (const ifaddrs* i = all; i != nullptr && card.endpoints < Card::most_endpoints; i = i->ifa_next) {
        if (i->ifa_addr == nullptr || i->ifa_addr->sa_family != AF_INET || (i->ifa_flags & IFF_UP) == 0 ||
            (i->ifa_flags & IFF_LOOPBACK) != 0 || !is_listed(devices, i->ifa_name))
            continue;
        sockaddr_in a{};
        std::memcpy(&a, i->ifa_addr, sizeof a);
        Endpoint endpoint;
        if (os::Fd fd = listen_on(a.sin_addr.s_addr, endpoint)) {
            card.endpoint[card.endpoints++] = endpoint;
            listeners.push_back(std::move(fd));
        }
    }
    freeifaddrs(all);
    return listeners;
}

uint32_t ways_to(const Card& card) {
    return is_here(card) ? 1 : std::min(card.endpoints, Card::most_endpoints);
}

// A host that has lost its power says nothing: after idle_s + times * every_s seconds the kernel finds out.
// Means nothing to a Unix socket.
static void watch_peer(int fd) {
    constexpr int on = 1;
    constexpr int idle_s = 2;
    constexpr int every_s = 1;
    constexpr int times = 5;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every_s, sizeof every_s);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof times);
}

os::Fd dial(const Card& card, uint32_t way) {
    if (is_here(card)) {
        os::Fd fd(socket(AF_UNIX, kind, 0));
        sockaddr_un a{};
        const socklen_t length = unix_address(card.socket, a);
        if (fd && connect(fd.get(), reinterpret_cast<const sockaddr*>(&a), length) != 0) fd.reset();
        return fd;
    }
    os::Fd fd(socket(AF_INET, kind, 0));
    const sockaddr_in a = tcp_address(card.endpoint[way]);
    if (fd) watch_peer(fd.get());
    if (fd && connect(fd.get(), reinterpret_cast<const sockaddr*>(&a), sizeof a) != 0 && errno != EINPROGRESS)
        fd.reset();
    return fd;
}

os::Fd answer(int listener) {
    os::Fd fd(accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd) watch_peer(fd.get());
    return fd;
}

} // namespace zipmpi::worlds
