// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Numeric addresses of this host, and TCP sockets on them. No name is ever looked up, and nobody listens on a
// wildcard address.
#pragma once

#include "launch/link/frame.hpp"
#include "os/fd.hpp"

#include <string>
#include <vector>

namespace zipmpi::launch {

struct Endpoint {
    std::string address; // 4 or 16 bytes, as they are on the wire
    uint32_t port = 0;
};

inline constexpr size_t most_endpoints = 64;

// Addresses of the interfaces that are up; loopback comes last. interface: only the one of this name, or
// empty for all.
std::vector<Endpoint> own_addresses(const std::string& interface);

// A socket that listens on this address only; fills in the port. Empty and errno on failure.
os::Fd listen_on(Endpoint& at);
os::Fd begin_connect(const Endpoint& to); // non-blocking, maybe still connecting; empty on failure
void tune(int socket);                    // small frames leave at once

void encode(Writer& w, const std::vector<Endpoint>& list);
bool decode(Reader& r, std::vector<Endpoint>& list);
std::string shown(const Endpoint& e); // "10.0.0.1:4711"

} // namespace zipmpi::launch
