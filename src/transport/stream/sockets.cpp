// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/stream/sockets.hpp"

#include "base/sha256.hpp"
#include "os/socket.hpp"
#include "transport/stream/process_handshake.hpp"

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

namespace zipmpi::transport::stream {
namespace {

constexpr int backlog = 128;
constexpr int kind = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

uint64_t first_u64(std::string_view bytes) {
    uint64_t value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

socklen_t unix_address(uint64_t socket, sockaddr_un& a) {
    a = {};
    a.sun_family = AF_UNIX; // names in the abstract namespace begin with a zero byte
    const int n = std::snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "zipmpi-world-%016" PRIx64, socket);
    return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<size_t>(n));
}

sockaddr_in tcp_address(const TcpAddress& e) {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = e.address;
    a.sin_port = e.port;
    return a;
}

os::Fd listen_on_host(uint64_t& name) {
    name = first_u64(random_bytes(sizeof name));
    os::Fd fd(socket(AF_UNIX, kind, 0));
    sockaddr_un a{};
    const socklen_t length = unix_address(name, a);
    if (fd && (bind(fd.get(), reinterpret_cast<const sockaddr*>(&a), length) != 0 ||
               listen(fd.get(), backlog) != 0))
        fd.reset();
    return fd;
}

os::Fd listen_on(uint32_t address, TcpAddress& endpoint) {
    os::Fd fd(socket(AF_INET, kind, 0));
    endpoint = {address, 0, 0};
    sockaddr_in a = tcp_address(endpoint);
    if (!fd || !os::listen_tcp(fd.get(), reinterpret_cast<sockaddr*>(&a), sizeof a, backlog)) return os::Fd();
    endpoint.port = a.sin_port;
    return fd;
}

bool is_same_host(const ContactInfo& contact) {
    static const uint64_t here = host_id();
    return contact.host == here;
}

// Whether the list has the interface; without a list all are used that other hosts might reach.
bool is_usable(const ifaddrs& interface, const std::string& devices) {
    if (devices.empty()) return (interface.ifa_flags & IFF_LOOPBACK) == 0;
    return ("," + devices + ",").find("," + std::string(interface.ifa_name) + ",") != std::string::npos;
}

} // namespace

uint64_t host_id() {
    char id[64] = {};
    const os::Fd f(open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
    const ssize_t n = f ? read(f.get(), id, sizeof id) : 0;
    struct stat space {};
    if (stat("/proc/self/ns/net", &space) != 0) space.st_ino = 0;
    const std::string text =
        std::string(id, n > 0 ? static_cast<size_t>(n) : 0) + std::to_string(space.st_ino);
    return first_u64(view(sha256(text)));
}

std::vector<os::Fd> listen_on_all(const std::string& devices, ContactInfo& contact) {
    std::vector<os::Fd> listeners = listen_on_network(devices, contact);
    contact.host = host_id();
    if (os::Fd fd = listen_on_host(contact.socket)) listeners.push_back(std::move(fd));
    return listeners;
}

std::vector<os::Fd> listen_on_network(const std::string& devices, ContactInfo& contact) {
    std::vector<os::Fd> listeners;
    ifaddrs* all = nullptr;
    if (getifaddrs(&all) != 0) return listeners;
    for (const ifaddrs* i = all; i != nullptr && contact.address_count < ContactInfo::max_addresses;
         i = i->ifa_next) {
        if (i->ifa_addr == nullptr || i->ifa_addr->sa_family != AF_INET || (i->ifa_flags & IFF_UP) == 0 ||
            !is_usable(*i, devices))
            continue;
        sockaddr_in a{};
        std::memcpy(&a, i->ifa_addr, sizeof a);
        TcpAddress endpoint;
        if (os::Fd fd = listen_on(a.sin_addr.s_addr, endpoint)) {
            contact.addresses[contact.address_count++] = endpoint;
            listeners.push_back(std::move(fd));
        }
    }
    freeifaddrs(all);
    return listeners;
}

uint32_t address_count(const ContactInfo& contact) {
    return is_same_host(contact) ? 1 : std::min(contact.address_count, ContactInfo::max_addresses);
}

// Detects hosts that vanish without closing connections: the kernel reports it after idle_s + times * every_s
// seconds. No effect on a Unix socket.
static void enable_keepalive(int fd) {
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

os::Fd dial(const ContactInfo& contact, uint32_t index) {
    if (is_same_host(contact)) {
        os::Fd fd(socket(AF_UNIX, kind, 0));
        sockaddr_un a{};
        const socklen_t length = unix_address(contact.socket, a);
        if (fd && connect(fd.get(), reinterpret_cast<const sockaddr*>(&a), length) != 0) fd.reset();
        return fd;
    }
    os::Fd fd(socket(AF_INET, kind, 0));
    const sockaddr_in a = tcp_address(contact.addresses[index]);
    if (fd) enable_keepalive(fd.get());
    if (fd && connect(fd.get(), reinterpret_cast<const sockaddr*>(&a), sizeof a) != 0 && errno != EINPROGRESS)
        fd.reset();
    return fd;
}

os::Fd accept_on(int listener) {
    os::Fd fd(accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd) enable_keepalive(fd.get());
    return fd;
}

} // namespace zipmpi::transport::stream
