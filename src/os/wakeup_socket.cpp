// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "os/wakeup_socket.hpp"

#include "os/random.hpp"

#include <arpa/inet.h>
#include <cinttypes>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <linux/filter.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace zipmpi::os {
namespace {

// The name of a socket, which all users of the host can list, has the upper half of its id.
uint32_t name_of(uint64_t id) { return static_cast<uint32_t>(id >> 32U); }
uint32_t secret_of(uint64_t id) { return static_cast<uint32_t>(id); }

// Names in the abstract namespace begin with a zero byte.
socklen_t address_of(uint64_t id, sockaddr_un& address) {
    address = {};
    address.sun_family = AF_UNIX;
    const int n = std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "zipmpi-wake-%08" PRIx32,
                                name_of(id));
    return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<size_t>(n));
}

Fd datagram_socket() { return Fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)); }

// The kernel drops datagrams that do not start with the secret: they neither wake this process nor fill its
// queue.
bool drop_without_secret(int socket, uint32_t secret) {
    constexpr uint16_t load_first_word = BPF_LD | BPF_W | BPF_ABS; // in network order
    constexpr uint16_t skip_unless_equal = BPF_JMP | BPF_JEQ | BPF_K;
    constexpr uint16_t accept_bytes = BPF_RET | BPF_K;
    sock_filter steps[] = {{load_first_word, 0, 0, 0},
                           {skip_unless_equal, 0, 1, ntohl(secret)},
                           {accept_bytes, 0, 0, sizeof secret},
                           {accept_bytes, 0, 0, 0}};
    const sock_fprog program{std::size(steps), steps};
    return setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0;
}

} // namespace

uint64_t WakeupSocket::open() noexcept {
    constexpr int attempts = 8; // another socket of the host may have the name
    for (int i = 0; i < attempts; ++i) {
        uint64_t id = 0;
        sockaddr_un address{};
        receiver_ = datagram_socket();
        if (!receiver_ || !fill_random(&id, sizeof id) ||
            !drop_without_secret(receiver_.get(), secret_of(id)))
            return 0;
        const socklen_t length = address_of(id, address);
        if (id != 0 && bind(receiver_.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0)
            return id;
    }
    return 0;
}

void WakeupSocket::notify(uint64_t id) noexcept {
    if (!sender_) sender_ = datagram_socket();
    sockaddr_un address{};
    const socklen_t length = address_of(id, address);
    const uint32_t secret = secret_of(id);
    // A full queue means that a wakeup is already pending.
    static_cast<void>(sendto(sender_.get(), &secret, sizeof secret, MSG_DONTWAIT | MSG_NOSIGNAL,
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
