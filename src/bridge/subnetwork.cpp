// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/subnetwork.hpp"

#include "transport/engine.hpp"

namespace zipmpi::bridge {

using transport::Arrival;
using transport::NetworkOperation;
using transport::OpStatus;
using transport::Peer;

bool SubNetwork::open(transport::NetworkConfig settings, transport::FrameConfig frames, std::string& why) {
    settings.listener = this;
    frames.listener = this;
    network_ = transport::open_network(settings, frames, why);
    return network_ != nullptr;
}

Peer SubNetwork::outer_peer(Peer inner) {
    if (outer_peers_.size() <= inner) outer_peers_.resize(inner + 1, -1);
    if (outer_peers_[inner] < 0) outer_peers_[inner] = static_cast<int>(peers_.add({index_, inner}));
    return static_cast<Peer>(outer_peers_[inner]);
}

void SubNetwork::message_arrived(const Arrival& a) {
    listener_.message_arrived({outer_peer(a.from), a.envelope, a.payload, a.bulk, a.bulk_bytes});
}

void SubNetwork::rts_arrived(const Arrival& a, transport::IncomingBulk& bytes, uint64_t length) {
    peers_.set_owner(bytes, index_);
    listener_.rts_arrived({outer_peer(a.from), a.envelope, a.payload, a.bulk, a.bulk_bytes}, bytes, length);
}

void SubNetwork::send_finished(NetworkOperation* operation, OpStatus outcome) {
    listener_.send_finished(operation, outcome);
}

void SubNetwork::fetch_finished(NetworkOperation* operation, OpStatus outcome) {
    listener_.fetch_finished(operation, outcome);
}

void SubNetwork::peer_failed(Peer peer, const char* why) { listener_.peer_failed(outer_peer(peer), why); }

void SubNetwork::connection_lost(Peer peer, const char* why) {
    listener_.connection_lost(outer_peer(peer), why);
}

void SubNetwork::pack(NetworkOperation* operation, uint64_t offset, std::byte* to, size_t bytes) {
    listener_.pack(operation, offset, to, bytes);
}

void SubNetwork::unpack(NetworkOperation* operation, uint64_t offset, const std::byte* from, size_t bytes) {
    listener_.unpack(operation, offset, from, bytes);
}

size_t SubNetwork::list_iov(NetworkOperation* operation, iovec* list, size_t most) {
    return listener_.list_iov(operation, list, most);
}

bool SubNetwork::frame_arrived(const transport::FrameArrival& f) {
    // Frame data is never kept: its owner could not be identified.
    static_cast<void>(frames_.frame_arrived({outer_peer(f.from), f.id, f.head, f.data, nullptr}));
    return false;
}

void SubNetwork::frame_sent(transport::FrameTicket* ticket) { frames_.frame_sent(ticket); }

void SubNetwork::peer_connected(Peer peer, int id) { frames_.peer_connected(outer_peer(peer), id); }

} // namespace zipmpi::bridge
