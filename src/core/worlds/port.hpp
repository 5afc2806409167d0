// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Ports: where a process waits for the roots of other groups, and what two roots say to each other there.
// Who knows the name of a port knows its secret; it is proven, both ways, and not said.
#pragma once

#include "core/worlds/worlds.hpp"
#include "os/fd.hpp"

#include <string>

namespace zipmpi::core {

struct Port {
    worlds::Card card;
    std::string secret;
    std::vector<os::Fd> listeners;

    [[nodiscard]] std::string name() const;
};

Err make_port(Port& port);

// Whether waiting is of no use any more; says so as fail() does.
using GiveUp = std::function<Err()>;
// The root's part: cards for cards. MPI goes on meanwhile.
Err accept_on(const Port& port, const Cards& own, const GiveUp& give_up, Deal& deal);
Err connect_to(const std::string& port_name, const Cards& own, Deal& deal);
// The same over a connection that the program has made.
Err talk_over(int fd, bool dialled, const std::string& secret, const Cards& own, Deal& deal);

} // namespace zipmpi::core
