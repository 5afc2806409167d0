// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/interjob/connection_sweeper.hpp"

#include <algorithm>

namespace zipmpi::interjob {

using transport::OpStatus;

namespace {

void add_unsent(const Connection& c, std::vector<NetworkOperation*>& unsent) {
    for (const QueuedFrame& out : c.out)
        if (out.notify) unsent.push_back(out.data.operation);
}

} // namespace

void ConnectionSweeper::fail_sends(const std::vector<NetworkOperation*>& unsent) {
    for (NetworkOperation* const operation : unsent) listener_.send_finished(operation, OpStatus::failed);
}

bool ConnectionSweeper::has_open_connection(int external) const {
    return std::ranges::any_of(table_.all(), [external](const auto& other) {
        return other.second->external == external && other.second->is_open();
    });
}

// A broken connection of a peer without a bye, on this or another connection, is a failure of the peer. Setup
// of an unused connection may fail because the other side has shut down normally; another open connection to
// the peer decides.
void ConnectionSweeper::record_failure(const Connection& c) {
    if (!c.broken || c.external < 0 || c.bye_received || peers_.at(c.external).left) return;
    const bool unused = !c.is_open() && c.out.empty();
    if (!unused || !has_open_connection(c.external)) peers_.add_failure(c.external);
}

void ConnectionSweeper::sweep() {
    ConnectionTable::Connections& connections = table_.all();
    for (auto it = connections.begin(); it != connections.end();) {
        const Connection& c = *it->second;
        const bool peer_left = c.bye_received || (c.external >= 0 && peers_.at(c.external).left);
        const bool over = c.bye_sent && peer_left && c.out.empty();
        record_failure(c);
        if (!over && !c.broken) {
            ++it;
            continue;
        }
        if (c.external >= 0 && peers_.at(c.external).connection == c.number)
            peers_.at(c.external).connection = 0;
        std::vector<NetworkOperation*> unsent;
        add_unsent(c, unsent);
        table_.count_event();
        it = connections.erase(it);
        fail_sends(unsent);
    }
    table_.end_sweep();
    for (int external = peers_.take_failure(); external != ExternalPeers::none;
         external = peers_.take_failure())
        fail(external, "the connection ended or could not be made");
}

void ConnectionSweeper::remove_connections(int external, std::vector<NetworkOperation*>& unsent) {
    std::erase_if(table_.all(), [external, &unsent](const auto& one) {
        if (one.second->external != external) return false;
        add_unsent(*one.second, unsent);
        return true;
    });
}

// Nothing more arrives from the peer, and nothing can be sent to it.
void ConnectionSweeper::fail(int external, const char* why) {
    ExternalPeer& peer = peers_.at(external);
    if (peer.failed) return;
    peer.failed = true;
    peer.connection = 0;
    table_.count_event();
    std::vector<NetworkOperation*> unsent;
    std::vector<NetworkOperation*> unreceived;
    remove_connections(external, unsent);
    transfers_.abandon(external, unsent, unreceived);
    fail_sends(unsent);
    for (NetworkOperation* const operation : unreceived)
        listener_.fetch_finished(operation, OpStatus::failed);
    if (peer.references > 0) listener_.peer_failed(peers_.peer_of(external), why);
}

} // namespace zipmpi::interjob
