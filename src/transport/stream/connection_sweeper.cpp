// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/stream/connection_sweeper.hpp"

#include "os/clock.hpp"
#include "transport/failure_report.hpp"

#include <algorithm>
#include <utility>

namespace zipmpi::transport::stream {
namespace {

void add_unsent(const Connection& c, std::vector<NetworkOperation*>& unsent) {
    for (const QueuedFrame& out : c.out)
        if (out.notify) unsent.push_back(out.data.operation);
}

} // namespace

void ConnectionSweeper::fail_sends(const std::vector<NetworkOperation*>& unsent) {
    for (NetworkOperation* const operation : unsent) listener_.send_finished(operation, OpStatus::failed);
}

bool ConnectionSweeper::has_open_connection(int peer) const {
    return std::ranges::any_of(table_.all(), [peer](const auto& other) {
        return other.second->peer == peer && other.second->is_open();
    });
}

// Another connection of the peer to which this process may send. A failed attempt to dial must not hide the
// one that the peer has dialed meanwhile.
Connection* ConnectionSweeper::find_open(const Connection& c) const {
    const auto found = std::ranges::find_if(table_.all(), [&c](const auto& one) {
        const Connection& other = *one.second;
        return other.peer == c.peer && &other != &c && other.is_open() && !other.is_broken() &&
               !other.bye_sent;
    });
    return !c.is_open() && found != table_.all().end() ? found->second.get() : nullptr;
}

bool ConnectionSweeper::has_ended(const Connection& c) const {
    const bool peer_left = c.bye_received || (c.peer >= 0 && peers_.link(c.peer).left);
    return c.bye_sent && peer_left && c.out.empty();
}

// A broken connection of a peer without a bye, on this or another connection, is a failure of the peer. Setup
// of an unused connection may fail because the other side has shut down normally; another open connection to
// the peer decides. Returns false if others detect failures: then sends to the peer stay in flight until they
// do.
bool ConnectionSweeper::note_end(const Connection& c) {
    if (!c.is_broken() || c.peer < 0 || c.bye_received || peers_.link(c.peer).left) return true;
    const bool unused = !c.is_open() && c.out.empty();
    if (unused && has_open_connection(c.peer)) return true;
    if (!c.is_open() || peers_.detects_failure_of(c.peer)) {
        peers_.add_failure(c.peer);
        return true;
    }
    if (!peers_.link(c.peer).is_lost()) lost_.push_back(c.peer);
    peers_.link(c.peer).lost_ns = os::now_ns();
    return false;
}

void ConnectionSweeper::report_lost_connections() {
    const uint64_t now = os::now_ns();
    std::vector<int> alive;
    std::erase_if(lost_, [&](int peer) {
        const PeerLink& link = peers_.link(peer);
        if (!link.is_lost() || link.failed) return true;
        if (now - link.lost_ns < failure_report_ns) return false;
        alive.push_back(peer);
        return true;
    });
    for (const int peer : alive)
        if (fail(peer))
            listener_.connection_lost(peers_.peer_of(peer), "the connection ended, but the process did not");
}

void ConnectionSweeper::sweep() {
    table_.end_sweep();
    ConnectionTable::Connections& connections = table_.all();
    for (auto it = connections.begin(); it != connections.end();) {
        Connection& c = *it->second;
        if (!c.is_broken() && !has_ended(c)) {
            ++it;
            continue;
        }
        std::vector<NetworkOperation*> unsent;
        if (note_end(c)) add_unsent(c, unsent);
        if (c.peer >= 0 && peers_.link(c.peer).connection == &c)
            peers_.link(c.peer).connection = find_open(c);
        table_.forget_blocked(c);
        table_.count_event();
        it = connections.erase(it);
        fail_sends(unsent);
    }
    for (int peer = peers_.take_failure(); peer != PeerSet::none; peer = peers_.take_failure())
        if (fail(peer))
            listener_.peer_failed(peers_.peer_of(peer), "the connection ended or could not be made");
}

void ConnectionSweeper::remove_peer(int peer) {
    peers_.link(peer).connection = nullptr;
    table_.count_event();
    std::vector<NetworkOperation*> unsent;
    std::vector<NetworkOperation*> unreceived;
    std::erase_if(table_.all(), [&](const auto& one) {
        if (one.second->peer != peer) return false;
        table_.forget_blocked(*one.second);
        add_unsent(*one.second, unsent);
        return true;
    });
    transfers_.abandon(peer, unsent, unreceived);
    fail_sends(unsent);
    for (NetworkOperation* const operation : unreceived)
        listener_.fetch_finished(operation, OpStatus::failed);
}

// Nothing more arrives from the peer, and nothing can be sent to it. Returns whether to report it.
bool ConnectionSweeper::fail(int peer) {
    if (std::exchange(peers_.link(peer).failed, true)) return false;
    remove_peer(peer);
    return peers_.reports_failure_of(peer);
}

} // namespace zipmpi::transport::stream
