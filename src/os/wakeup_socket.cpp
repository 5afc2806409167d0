// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "os/wakeup_socket.hpp"

#include "os/random.hpp"

#include <cinttypes>
#include <cstddef>
#include <cstdio>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace zipmpi::os {
namespace {

// Names in the abstract namespace begin with a zero byte.
socklen_t address_of(uint64_t name, sockaddr_un& address) {
    address = {};
    address.sun_family = AF_UNIX;
    const int n =
        std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "zipmpi-wake-%016" PRIx64, name);
    return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<size_t>(n));
}

Fd datagram_socket() { return Fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)); }

} // namespace

uint64_t WakeupSocket::open() noexcept {
    uint64_t name = 0;
    if (!fill_random(&name, sizeof name) || name == 0) return 0;
    sockaddr_un address{};
    const socklen_t length = address_of(name, address);
    receiver_ = datagram_socket();
    if (!receiver_ || bind(receiver_.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0)
        return 0;
    return name;
}

void WakeupSocket::notify(uint64_t name) noexcept {
    if (!sender_) sender_ = datagram_socket();
    sockaddr_un address{};
    const socklen_t length = address_of(name, address);
    // A full queue means that a wakeup is already pending.
    static_cast<void>(sendto(sender_.get(), "", 1, MSG_DONTWAIT | MSG_NOSIGNAL,
                             reinterpret_cast<const sockaddr*>(&address), length));
}

bool WakeupSocket::wait(int other, int64_t timeout_ns) const noexcept {
    pollfd fds[2] = {{receiver_.get(), POLLIN, 0}, {other, POLLIN, 0}};
    const timespec limit{timeout_ns / 1'000'000'000, timeout_ns % 1'000'000'000};
    const timespec now{};
    // After a long wait for a CPU the timeout may have expired although a descriptor is ready.
    if (ppoll(fds, 2, &limit, nullptr) <= 0 && ppoll(fds, 2, &now, nullptr) <= 0) return false;
    char drained[64];
    if ((fds[0].revents & POLLIN) != 0)
        while (recv(receiver_.get(), drained, sizeof drained, MSG_DONTWAIT) >= 0) {
        }
    return true;
}

} // namespace zipmpi::os
