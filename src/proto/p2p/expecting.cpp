// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/expecting.hpp"

#include "transport/shm/transport.hpp"

namespace zipmpi::proto {

Expecting::Expecting(transport::shm::Transport& shm)
    : shm_(shm.counts_expected() ? &shm : nullptr) {}

void Expecting::count_receive(int source, int world_source, int change) {
    constexpr int anybody = -1;
    const int peer = source == any_source ? anybody : shm_->reach(world_source);
    if (source == any_source || peer >= 0) shm_->expect(peer, change); // else from another host
}

void Expecting::count_answer(uint32_t peer, int change) {
    if (peer < shm_->segment().local_ranks()) shm_->expect(static_cast<int>(peer), change);
}

} // namespace zipmpi::proto
