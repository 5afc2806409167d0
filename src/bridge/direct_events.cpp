// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/direct_events.hpp"

namespace zipmpi::bridge {

void DirectEvents::message_arrived(const transport::Arrival& message) {
    protocols_.message_arrived(renumbered(message));
}

void DirectEvents::rts_arrived(const transport::Arrival& message, transport::IncomingBulk& bytes,
                               uint64_t length) {
    protocols_.rts_arrived(renumbered(message), bytes, length);
}

void DirectEvents::send_finished(NetworkOperation* operation, OpStatus outcome) {
    protocols_.send_finished(operation, outcome);
}

void DirectEvents::fetch_finished(NetworkOperation* operation, OpStatus outcome) {
    protocols_.fetch_finished(operation, outcome);
}

void DirectEvents::peer_failed(Peer peer, const char* why) {
    const int path = paths_.on_peer_failed(peer);
    if (path >= 0) return endpoint_.path_down(path);
    if (paths_.is_gateway(peer)) return; // a gateway in a second network
    protocols_.peer_failed(peers_.number_direct(peer), why);
}

void DirectEvents::connection_lost(Peer peer, const char* why) {
    protocols_.connection_lost(peers_.number_direct(peer), why);
}

void DirectEvents::pack(NetworkOperation* operation, uint64_t offset, std::byte* to, size_t bytes) {
    protocols_.pack(operation, offset, to, bytes);
}

void DirectEvents::unpack(NetworkOperation* operation, uint64_t offset, const std::byte* from, size_t bytes) {
    protocols_.unpack(operation, offset, from, bytes);
}

size_t DirectEvents::list_iov(NetworkOperation* operation, iovec* list, size_t most) {
    return protocols_.list_iov(operation, list, most);
}

} // namespace zipmpi::bridge
