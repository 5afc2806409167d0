// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Unix sockets in the abstract namespace (no name in the file system), with peer credentials from the kernel
// and descriptor passing; listening TCP sockets within a range of ports.
#pragma once

#include "os/fd.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/types.h>

namespace zipmpi::os {

struct PeerIdentity {
    pid_t pid = -1;
    uid_t uid = static_cast<uid_t>(-1);
};

Fd listen_abstract(std::string_view name, int backlog) noexcept; // close-on-exec; empty and errno on failure
Fd connect_abstract(std::string_view name) noexcept;             // close-on-exec; empty and errno on failure
Fd accept_peer(int listener, int timeout_ms, PeerIdentity& who) noexcept; // empty: timeout or error
bool peer_identity(int socket, PeerIdentity& who) noexcept;               // SO_PEERCRED

// Binds a TCP socket and listens. If the address has port 0, the port is one of the parameter net.ports, or
// any free one without it. On success the address has the port; returns false and sets errno on failure.
bool listen_tcp(int socket, sockaddr* address, socklen_t length, int backlog) noexcept;
const std::string& port_range(); // net.ports; empty: any port

// One byte of payload carries the descriptor.
bool send_fd(int socket, int fd) noexcept;
Fd receive_fd(int socket, int timeout_ms) noexcept; // received close-on-exec

// Transfer whole buffers; EINTR is handled. Return false on end of file, error or timeout.
bool read_all(int fd, void* data, size_t size, int timeout_ms) noexcept;
bool write_all(int fd, const void* data, size_t size) noexcept;

} // namespace zipmpi::os
