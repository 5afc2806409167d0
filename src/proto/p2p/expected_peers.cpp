// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/expected_peers.hpp"

#include "transport/shm/shm_transport.hpp"

namespace zipmpi::proto {

ExpectedPeers::ExpectedPeers(transport::shm::ShmTransport& shm)
    : shm_(shm.counts_expected() ? &shm : nullptr) {}

void ExpectedPeers::apply_recv(int source, int world_source, int change) {
    constexpr int any_peer = -1;
    const int peer = source == any_source ? any_peer : shm_->peer_of(world_source);
    if (source == any_source || peer >= 0) shm_->expect(peer, change); // else it is on another host
}

void ExpectedPeers::apply_reply(uint32_t peer, int change) {
    if (peer < shm_->segment().local_ranks()) shm_->expect(static_cast<int>(peer), change);
}

} // namespace zipmpi::proto
