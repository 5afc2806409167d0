// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/connector.hpp"

#include "wire/ofi_layout.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace zipmpi::transport::ofi {

PeerState& Connector::peer_for(int world_rank) {
    if (PeerState* const known = peers_.find(world_rank); known != nullptr) return *known;
    PeerState& peer = peers_.add(world_rank);
    auth::renew(peer.connection.nonce);
    PeerTable::renew_tokens(peer);
    return peer;
}

bool Connector::set_address(PeerState& peer, std::string_view contact) {
    peer.address = endpoint_.insert(contact);
    peer.connection.contact = contact;
    return peer.address != FI_ADDR_NOTAVAIL;
}

// Returns the peer to its initial state, except for a contact that has not failed. The address stays in
// libfabric's table, because operations that are in flight may use it.
void Connector::reset_peer(PeerState& peer) {
    listener_.peer_reset(peer);
    if (peer.failed) peer.connection.contact.clear();
    peer.address = FI_ADDR_NOTAVAIL;
    auth::renew(peer.connection.nonce);
    PeerTable::renew_tokens(peer);
    peer.failed = peer.left = false;
    peer.lost_ns = 0;
}

int Connector::connect_to(int world_rank) {
    const PeerState* const known = peers_.find(world_rank);
    if (known != nullptr && (known->failed || known->abandoned)) return -1;
    if (known != nullptr && known->address != FI_ADDR_NOTAVAIL) return static_cast<int>(known->index);
    // A peer that only stopped responding is contacted at its last address: a lookup may block as long as its
    // network is cut off if the launcher is reached through that network.
    std::string contact = known != nullptr ? known->connection.contact : std::string();
    if (contact.empty()) contact = config_.resolver->find(world_rank);
    if (contact.empty()) return -1;
    PeerState& peer = peer_for(world_rank);
    if (!set_address(peer, contact)) return -1;
    const auth::Nonce nonce = peer.connection.nonce;
    send_handshake(peer, wire::net_hello, nonce);
    return static_cast<int>(peer.index);
}

void Connector::send_handshake(PeerState& peer, uint16_t kind,
                               std::span<const uint8_t, wire::nonce_bytes> nonce) {
    const std::string_view contact =
        kind == wire::net_hello ? std::string_view(endpoint_.address()) : std::string_view();
    const std::string bytes = auth::sign({.kind = kind,
                                          .from = config_.own_rank,
                                          .to = peer.world_rank,
                                          .token = peer.tokens.issued,
                                          .nonce = nonce},
                                         contact, config_.keys);
    SendRequest& s = requests_.acquire(peer);
    const wire::OfiHead head{wire::ofi_handshake, 0, 0};
    s.append(&head, sizeof head);
    s.append(bytes.data(), bytes.size());
    static_cast<void>(requests_.post(s)); // a failure was noted
}

void Connector::handshake_arrived(std::span<const std::byte> bytes) {
    auth::VerifiedMessage message;
    if (auth::verify(bytes, wire::net_hello, config_.own_rank, config_.keys, message))
        on_hello(message);
    else if (auth::verify(bytes, wire::net_hello_reply, config_.own_rank, config_.keys, message))
        on_hello_reply(message);
    else
        ++counters_.rejected_messages;
}

void Connector::on_hello(const auth::VerifiedMessage& hello) {
    PeerState& peer = peer_for(hello.message.from);
    const uint64_t number = auth::hello_number(hello.message.nonce);
    if (peer.abandoned || number <= peer.connection.last_hello) return; // replayed
    if (peer.is_lost() && peer.tokens.sending != 0) return;             // messages may be missing
    const bool is_new = peer.tokens.sending != hello.message.token;
    const bool has_address = peer.address != FI_ADDR_NOTAVAIL;
    const bool moved = has_address && peer.connection.contact != hello.address;
    const bool peer_has_reset = peer.tokens.sending != 0 && is_new;
    if ((moved || peer_has_reset || peer.failed) && peers_.detects_failure_of(peer)) {
        peers_.mark_failed(peer, "the peer has reset the connection");
        reset_peer(peer);
    } else if (peer_has_reset || peer.is_lost()) {
        listener_.peer_reset(peer);
        PeerTable::renew_tokens(peer);
        peer.lost_ns = 0;
    }
    peer.connection.last_hello = number;
    if (peer.address == FI_ADDR_NOTAVAIL && !set_address(peer, hello.address)) return;
    peer.tokens.sending = hello.message.token;
    send_handshake(peer, wire::net_hello_reply, hello.message.nonce);
    if (is_new) listener_.peer_connected(peer);
}

void Connector::on_hello_reply(const auth::VerifiedMessage& reply) {
    PeerState* const peer = peers_.find(reply.message.from);
    if (peer == nullptr ||
        std::memcmp(peer->connection.nonce.data(), reply.message.nonce, wire::nonce_bytes) != 0) {
        ++counters_.rejected_messages;
        return;
    }
    if (peer->tokens.sending != 0) return;
    peer->tokens.sending = reply.message.token;
    listener_.peer_connected(*peer);
}

void Connector::fail_peer(int world_rank) {
    PeerState& peer = peer_for(world_rank);
    peer.failed = peer.abandoned = true;
    listener_.peer_reset(peer);
}

// A send that failed before may have met its end.
void Connector::peer_left(PeerState& peer) {
    peers_.set_left(peer);
    if (!peer.is_lost()) return;
    peer.failed = true;
    listener_.peer_reset(peer);
}

void Connector::report_lost_connections() {
    for (const Peer index : peers_.take_unreported()) {
        PeerState& peer = peers_[index];
        peer.failed = true;
        listener_.peer_reset(peer);
        ++counters_.events;
        network_listener_.connection_lost(index, "libfabric cannot reach it, but the process has not ended");
    }
}

void Connector::give_up_ended() {
    for (const Peer index : requests_.find_stalled()) {
        peers_[index].failed = true;
        listener_.peer_reset(peers_[index]);
    }
}

bool Connector::has_pending_handshakes() const {
    return std::ranges::any_of(peers_, [](const PeerState& p) {
        return p.address != FI_ADDR_NOTAVAIL && p.tokens.sending == 0 && !p.failed;
    });
}

} // namespace zipmpi::transport::ofi
