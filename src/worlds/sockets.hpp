// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Where a process listens for others: a Unix socket for those of its host, and TCP on the addresses of the
// host that others might reach. No wildcard address. Sockets do not block.
#pragma once

#include "os/fd.hpp"
#include "worlds/card.hpp"

#include <string>
#include <vector>

namespace zipmpi::worlds {

uint64_t host_number(); // of this host and network namespace

// Fills in host, socket and endpoints. devices: names of interfaces, separated by commas; empty: all that are
// up. Empty: nothing can be listened on.
std::vector<os::Fd> listen_everywhere(const std::string& devices, Card& card);

// How many ways lead to a process: one on the same host.
uint32_t ways_to(const Card& card);
// Begins to connect; empty: this way does not lead there.
os::Fd dial(const Card& card, uint32_t way);
os::Fd answer(int listener); // empty: nobody is there

} // namespace zipmpi::worlds
