// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "os/bell.hpp"

#include "os/random.hpp"

#include <cinttypes>
#include <cstddef>
#include <cstdio>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace zipmpi::os {
namespace {

// A name of the abstract namespace begins with a zero byte.
socklen_t address_of(uint64_t name, sockaddr_un& address) {
    address = {};
    address.sun_family = AF_UNIX;
    const int n =
        std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "zipmpi-bell-%016" PRIx64, name);
    return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<size_t>(n));
}

Fd datagram_socket() { return Fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)); }

} // namespace

uint64_t Bell::hang() noexcept {
    uint64_t name = 0;
    if (!fill_random(&name, sizeof name) || name == 0) return 0;
    sockaddr_un address{};
    const socklen_t length = address_of(name, address);
    own_ = datagram_socket();
    if (!own_ || bind(own_.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0) return 0;
    return name;
}

void Bell::ring(uint64_t name) noexcept {
    if (!sender_) sender_ = datagram_socket();
    sockaddr_un address{};
    const socklen_t length = address_of(name, address);
    // A full queue means that the sleeper has been rung for already.
    static_cast<void>(sendto(sender_.get(), "", 1, MSG_DONTWAIT | MSG_NOSIGNAL,
                             reinterpret_cast<const sockaddr*>(&address), length));
}

bool Bell::wait(int other, int64_t timeout_ns) const noexcept {
    pollfd fds[2] = {{own_.get(), POLLIN, 0}, {other, POLLIN, 0}};
    const timespec limit{timeout_ns / 1'000'000'000, timeout_ns % 1'000'000'000};
    const timespec now{};
    // After a long wait for a CPU the time may be over and something there.
    if (ppoll(fds, 2, &limit, nullptr) <= 0 && ppoll(fds, 2, &now, nullptr) <= 0) return false;
    char drained[64];
    if ((fds[0].revents & POLLIN) != 0)
        while (recv(own_.get(), drained, sizeof drained, MSG_DONTWAIT) >= 0) {
        }
    return true;
}

} // namespace zipmpi::os
