// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Numeric addresses of this host, and TCP sockets on them. No name is resolved, and no socket listens on a
// wildcard address.
#pragma once

#include "launch/protocol/control_frame.hpp"
#include "os/fd.hpp"

#include <string>
#include <vector>

namespace zipmpi::launch {

struct SocketAddress {
    std::string address; // 4 or 16 bytes in network order
    uint32_t port = 0;
};

inline constexpr size_t max_socket_addresses = 64;

// Addresses of the interfaces that are up; loopback is last. interface: only this interface; empty: all.
std::vector<SocketAddress> local_addresses(const std::string& interface);

// A socket that listens on this address only; sets the port. Empty with errno on failure.
os::Fd listen_on(SocketAddress& at);
os::Fd begin_connect(const SocketAddress& to); // nonblocking, possibly still connecting; empty on failure
void tune_socket(int socket);                  // sends small frames immediately

void encode(PayloadWriter& w, const std::vector<SocketAddress>& list);
bool decode(PayloadReader& r, std::vector<SocketAddress>& list);
std::string to_text(const SocketAddress& e); // "10.0.0.1:4711"

} // namespace zipmpi::launch
