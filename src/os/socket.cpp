// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "os/socket.hpp"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <netinet/in.h>
#include <poll.h>
#include <sys/un.h>
#include <unistd.h>

namespace zipmpi::os {
namespace {

struct PortRange {
    uint16_t first = 0, last = 0; // 0: any port
};

bool parse_port_range(std::string_view text, PortRange& range) noexcept {
    const char* const end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, range.first);
    if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') return false;
    const auto last = std::from_chars(first.ptr + 1, end, range.last);
    return last.ec == std::errc() && last.ptr == end && range.first > 0 && range.first <= range.last;
}

// The port has one offset in both families.
uint16_t& port_of(sockaddr* address) noexcept { return reinterpret_cast<sockaddr_in*>(address)->sin_port; }

bool listen_on_port(int socket, sockaddr* address, socklen_t length, int backlog) noexcept {
    return bind(socket, address, length) == 0 && listen(socket, backlog) == 0 &&
           getsockname(socket, address, &length) == 0;
}

void allow_reuse(int socket) noexcept {
    const int on = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
}

// A different first port in every process, so that processes seldom try each other's ports.
bool bind_in_range(int socket, sockaddr* address, socklen_t length, PortRange range) noexcept {
    const uint32_t size = range.last - range.first + 1U;
    const uint32_t start = static_cast<uint32_t>(getpid()) * 7U;
    for (uint32_t i = 0; i < size; ++i) {
        port_of(address) = htons(static_cast<uint16_t>(range.first + (start + i) % size));
        if (bind(socket, address, length) == 0) return true;
        if (errno != EADDRINUSE) return false;
    }
    return false;
}

// First unused ports; if there is none, also those of connections that have ended.
bool listen_in_range(int socket, sockaddr* address, socklen_t length, int backlog, PortRange range) noexcept {
    const bool bound = bind_in_range(socket, address, length, range);
    allow_reuse(socket); // also for a later listener, once the connections of this one have ended
    return (bound || bind_in_range(socket, address, length, range)) && listen(socket, backlog) == 0;
}

bool abstract_address(std::string_view name, sockaddr_un& address, socklen_t& length) noexcept {
    if (name.size() + 1 > sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return false;
    }
    std::memset(&address, 0, sizeof address);
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data(), name.size()); // leading NUL: abstract namespace
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    return true;
}

bool wait_readable(int fd, int timeout_ms) noexcept {
    pollfd p{fd, POLLIN, 0};
    int rc = 0;
    do {
        rc = poll(&p, 1, timeout_ms);
    } while (rc < 0 && errno == EINTR);
    return rc > 0;
}

} // namespace

Fd listen_abstract(std::string_view name, int backlog) noexcept {
    sockaddr_un address{};
    socklen_t length = 0;
    if (!abstract_address(name, address, length)) return Fd();
    Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd || bind(fd.get(), reinterpret_cast<sockaddr*>(&address), length) != 0 ||
        listen(fd.get(), backlog) != 0)
        return Fd();
    return fd;
}

Fd connect_abstract(std::string_view name) noexcept {
    sockaddr_un address{};
    socklen_t length = 0;
    if (!abstract_address(name, address, length)) return Fd();
    Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd) return fd;
    int rc = 0;
    do {
        rc = connect(fd.get(), reinterpret_cast<sockaddr*>(&address), length);
    } while (rc != 0 && errno == EINTR);
    return rc == 0 ? std::move(fd) : Fd();
}

bool listen_tcp(int socket, sockaddr* address, socklen_t length, int backlog) noexcept {
    PortRange range;
    if (port_of(address) != 0 || port_range().empty())
        return listen_on_port(socket, address, length, backlog);
    if (parse_port_range(port_range(), range))
        return listen_in_range(socket, address, length, backlog, range);
    errno = EINVAL;
    return false;
}

bool peer_identity(int socket, PeerIdentity& who) noexcept {
    ucred credentials{};
    socklen_t length = sizeof credentials;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return false;
    who = {credentials.pid, credentials.uid};
    return true;
}

Fd accept_peer(int listener, int timeout_ms, PeerIdentity& who) noexcept {
    if (!wait_readable(listener, timeout_ms)) return Fd();
    Fd fd(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
    if (fd && !peer_identity(fd.get(), who)) return Fd();
    return fd;
}

namespace {

// A message of one byte with room for a descriptor.
struct FdMessage {
    FdMessage() noexcept {
        message.msg_iov = &io;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof control;
    }
    FdMessage(const FdMessage&) = delete;
    FdMessage& operator=(const FdMessage&) = delete;

    char byte = 'F';
    iovec io{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
};

} // namespace

bool send_fd(int socket, int fd) noexcept {
    FdMessage m;
    cmsghdr* header = CMSG_FIRSTHDR(&m.message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
    return sendmsg(socket, &m.message, MSG_NOSIGNAL) == 1;
}

Fd receive_fd(int socket, int timeout_ms) noexcept {
    if (!wait_readable(socket, timeout_ms)) return Fd();
    FdMessage m;
    if (recvmsg(socket, &m.message, MSG_CMSG_CLOEXEC) != 1) return Fd();
    const cmsghdr* header = CMSG_FIRSTHDR(&m.message);
    if (header == nullptr || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof(int)))
        return Fd();
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
    return Fd(fd);
}

bool read_all(int fd, void* data, size_t size, int timeout_ms) noexcept {
    auto* to = static_cast<char*>(data);
    while (size > 0) {
        if (timeout_ms >= 0 && !wait_readable(fd, timeout_ms)) return false;
        const ssize_t n = read(fd, to, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        to += n;
        size -= static_cast<size_t>(n);
    }
    return true;
}

bool write_all(int fd, const void* data, size_t size) noexcept {
    const auto* from = static_cast<const char*>(data);
    while (size > 0) {
        const ssize_t n = write(fd, from, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        from += n;
        size -= static_cast<size_t>(n);
    }
    return true;
}

} // namespace zipmpi::os
