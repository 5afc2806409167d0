// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/network_port.hpp"

#include <algorithm>

namespace zipmpi::proto {
namespace {

// Polling the network is a system call. After a message from this node only every 16th progress call polls
// it, until 64 calls have passed without another one.
constexpr uint32_t rounds_per_poll = 16;
constexpr uint32_t quiet_rounds = 64;

} // namespace

int NetworkPort::poll_if_due(bool local_message_arrived) {
    polls_since_local_ = local_message_arrived ? 0 : std::min(polls_since_local_, quiet_rounds) + 1;
    if (polls_since_local_ < quiet_rounds && polls_since_local_ % rounds_per_poll != rounds_per_poll - 1)
        return 0;
    ++polls_;
    const int happened = network_->progress();
    relays_bulk_ = network_->relays_bulk();
    if (happened != 0) polls_since_local_ = quiet_rounds;
    return happened;
}

} // namespace zipmpi::proto
