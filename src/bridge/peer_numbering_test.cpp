// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/peer_numbering.hpp"

#include <gtest/gtest.h>

namespace zipmpi::bridge {
namespace {

TEST(PeerNumbering, DirectAndRelayedPeersShareDenseNumbers) {
    PeerNumbering peers;
    EXPECT_EQ(peers.number_direct(3), 0U);
    EXPECT_EQ(peers.number_flow(3), 1U);
    EXPECT_EQ(peers.number_direct(0), 2U);
    EXPECT_EQ(peers.number_flow(3), 1U);
    EXPECT_TRUE(peers[1].relayed);
    EXPECT_FALSE(peers[2].relayed);
    EXPECT_EQ(peers[1].inner, 3U);
}

TEST(PeerNumbering, RanksAreKnownOnceConnected) {
    PeerNumbering peers;
    EXPECT_EQ(peers.find(7), -1);
    peers.set_rank(7, peers.number_flow(0));
    EXPECT_EQ(peers.find(7), 0);
}

} // namespace
} // namespace zipmpi::bridge
