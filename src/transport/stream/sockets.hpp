// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Sockets of a process for connections to others: a Unix socket for processes of its host, and TCP on the
// addresses of the host that others might reach. No wildcard address. Sockets are nonblocking.
#pragma once

#include "os/fd.hpp"
#include "transport/stream/contact_info.hpp"

#include <string>
#include <vector>

namespace zipmpi::transport::stream {

uint64_t host_id(); // of this host and network namespace

// Fills in the addresses, on TCP interfaces. devices: comma-separated interface names; empty: all that are
// up. Returns no descriptors if it cannot listen on any address.
std::vector<os::Fd> listen_on_network(const std::string& devices, ContactInfo& contact);
// Also listens for processes of this host: fills in host and socket.
std::vector<os::Fd> listen_on_all(const std::string& devices, ContactInfo& contact);

// Number of addresses of a process; 1 on the same host.
uint32_t address_count(const ContactInfo& contact);
// Starts to connect; the result is empty if the address cannot be used.
os::Fd dial(const ContactInfo& contact, uint32_t index);
os::Fd accept_on(int listener); // empty: no connection is pending

} // namespace zipmpi::transport::stream
