// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "os/socket.hpp"

#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace zipmpi::os {
namespace {

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

bool send_fd(int socket, int fd) noexcept {
    char byte = 'F';
    iovec io{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &io;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
    return sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

Fd receive_fd(int socket, int timeout_ms) noexcept {
    if (!wait_readable(socket, timeout_ms)) return Fd();
    char byte = 0;
    iovec io{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &io;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1) return Fd();
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
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
