// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ucx/peer_table.hpp"

#include <utility>

namespace zipmpi::transport::ucx {

PeerState& PeerTable::add(int world_rank) {
    const auto index = static_cast<Peer>(peers_.size());
    by_rank_.emplace(world_rank, index);
    PeerState& peer = peers_.emplace_back();
    peer.world_rank = world_rank;
    peer.index = index;
    return peer;
}

void PeerTable::mark_failed(PeerState& peer, const char* why) {
    ++counters_.events;
    if (std::exchange(peer.failed, true)) return;
    listener_.peer_failed(peer.index, why);
}

} // namespace zipmpi::transport::ucx
