// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Ports: the address at which a process accepts connections from the roots of other groups, and the exchange
// between two roots. The port name contains a secret; both sides prove that they have it without sending it.
#pragma once

#include "core/dpm/connect.hpp"
#include "core/dpm/port_candidates.hpp"

#include <string>

namespace zipmpi::core {

struct Port {
    transport::stream::ContactInfo contact;
    std::string secret;
    std::vector<os::Fd> listeners;
    PortCandidates candidates;

    [[nodiscard]] std::string name() const;
};

Err make_port(Port& port);

// Returns an error, recorded by fail(), if waiting has become pointless.
using AbortCheck = std::function<Err()>;
// Fails when a member has failed: the other members no longer take part in the collective call.
AbortCheck member_check(const Comm& comm);
// Executed by the root: exchanges contact information. MPI progress continues while waiting.
Err accept_on(Port& port, const Contacts& own_contacts, const AbortCheck& check_abort,
              ConnectInfo& connect_info);
Err connect_to(const std::string& port_name, const Contacts& own_contacts, const AbortCheck& check_abort,
               ConnectInfo& connect_info);
// The exchange over a socket that the application has connected.
Err exchange_over_socket(int fd, bool is_initiator, const std::string& secret, const Contacts& own_contacts,
                         ConnectInfo& connect_info);

} // namespace zipmpi::core
