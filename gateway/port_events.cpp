// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gateway/port_events.hpp"

#include "gateway/forwarder.hpp"

namespace zipmpi::gateway {

bool PortEvents::frame_arrived(const transport::FrameArrival& f) {
    return forwarder_.on_frame(
        {port_.index(), f.id, f.head, f.data, f.descriptor, nullptr, port_.network().spliced(f.descriptor)});
}

void PortEvents::frame_sent(transport::FrameTicket* ticket) {
    forwarder_.on_frame_sent(*static_cast<InTransitFrame*>(ticket));
}

void PortEvents::peer_connected(Peer peer, int id) {
    port_.on_peer_connected(peer);
    forwarder_.on_peer_connected(port_, id);
}

void PortEvents::peer_failed(Peer peer, const char* /*why*/) { port_.on_peer_failed(peer); }

void PortEvents::rts_arrived(const transport::Arrival& /*message*/, transport::IncomingBulk& bytes,
                             uint64_t /*length*/) {
    port_.network().drop(bytes);
}

} // namespace zipmpi::gateway
