// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/polled_senders.hpp"

#include <gtest/gtest.h>

namespace zipmpi::transport::shm {
namespace {

TEST(PolledSenders, AllOfAFewRanksArePolled) {
    PolledSenders polled(17);
    EXPECT_TRUE(polled.should_add(1));
    for (Peer peer = 1; peer <= 16; ++peer) EXPECT_EQ(polled.add(peer), std::nullopt);
    EXPECT_EQ(polled.count(), 16U);
}

TEST(PolledSenders, SenderWithTheFewestHitsIsReplaced) {
    PolledSenders polled(40);
    EXPECT_FALSE(polled.should_add(39));
    EXPECT_TRUE(polled.should_add(40));
    for (Peer peer = 1; peer <= polled.limit(); ++peer) EXPECT_EQ(polled.add(peer), std::nullopt);
    for (uint32_t i = 0; i < polled.limit(); ++i) polled.add_hits(i, i == 2 ? 3 : 10);
    EXPECT_EQ(polled.add(30), Peer{3});
    EXPECT_EQ(polled.peer(2), Peer{30});
    EXPECT_EQ(polled.add(31), Peer{30}) << "a new sender has no hits yet";
}

} // namespace
} // namespace zipmpi::transport::shm
