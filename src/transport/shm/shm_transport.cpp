// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/shm_transport.hpp"

namespace zipmpi::transport::shm {

static_assert(transport::Transport<ShmTransport>);

ShmTransport::ShmTransport(const segment::NodeSegment& segment, uint32_t self)
    : own_(LocalRank::make(segment, self))
    , caps_{wire::inline_max, wire::inline_max_with_cell, segment.geometry().cell_bytes}
    , peers_(segment)
    , wakeups_(own_)
    , send_rings_(own_, wakeups_)
    , receive_rings_(own_, send_rings_, wakeups_)
    , cells_(own_, send_rings_) {}

SendStatus ShmTransport::send_bulk(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                                   size_t bytes, const BulkSource& bulk) {
    if (bytes == 0 && bulk.bytes > wire::inline_max && bulk.bytes <= wire::multislot_max)
        return send_rings_.send_multislot(peer, envelope, bulk);
    return cells_.send(peer, envelope, payload, bytes, bulk);
}

uint32_t ShmTransport::arm() {
    const uint32_t ticket = wakeups_.announce_sleep();
    send_rings_.request_space();
    cells_.request_wakeup();
    wakeups_.execute_barrier();
    receive_rings_.end_draining();
    return ticket;
}

} // namespace zipmpi::transport::shm
