// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/coll/levels.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace zipmpi::proto::coll {
namespace {

TEST(Nodes, NeighboursOnOneNode) {
    const std::vector<int> ids = {4, 4, 4, 0, 0, 2};
    const Nodes nodes(ids);
    EXPECT_EQ(nodes.count(), 3);
    EXPECT_TRUE(nodes.grouped());
    EXPECT_FALSE(nodes.same_size());
    EXPECT_EQ(nodes.largest(), 3);
    EXPECT_EQ(nodes.first(1), 3);
    EXPECT_EQ(nodes.first(3), 6);
    EXPECT_EQ(nodes.node_of(2), 0);
    EXPECT_EQ(nodes.node_of(5), 2);
    EXPECT_EQ(nodes.place_of(4), 1);
    EXPECT_EQ(nodes.member(1, 1), 4);
}

TEST(Nodes, DealtOut) {
    const std::vector<int> ids = {1, 0, 1, 0, 1};
    const Nodes nodes(ids);
    EXPECT_EQ(nodes.count(), 2);
    EXPECT_FALSE(nodes.grouped());
    EXPECT_EQ(nodes.size_of(0), 3);
    EXPECT_EQ(nodes.member(0, 2), 4);
    EXPECT_EQ(nodes.member(1, 0), 1);
    EXPECT_EQ(nodes.node_of(3), 1);
    EXPECT_EQ(nodes.place_of(3), 1);
}

// A node that comes again later is not two nodes, and the order of its ranks is not that of all.
TEST(Nodes, ComesAgain) {
    const std::vector<int> ids = {0, 0, 1, 0};
    const Nodes nodes(ids);
    EXPECT_EQ(nodes.count(), 2);
    EXPECT_FALSE(nodes.grouped());
    EXPECT_EQ(nodes.member(0, 2), 3);
}

TEST(Nodes, EveryMemberIsWhereItSays) {
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        std::vector<int> ids(1 + random() % 40);
        for (int& id : ids) id = static_cast<int>(random() % 6);
        if (round % 2 == 0) std::sort(ids.begin(), ids.end());
        const Nodes nodes(ids);
        int seen = 0;
        for (int n = 0; n < nodes.count(); ++n)
            for (int i = 0; i < nodes.size_of(n); ++i, ++seen) {
                const int rank = nodes.member(n, i);
                EXPECT_EQ(nodes.node_of(rank), n);
                EXPECT_EQ(nodes.place_of(rank), i);
                EXPECT_EQ(ids[static_cast<size_t>(rank)], ids[static_cast<size_t>(nodes.member(n, 0))]);
            }
        EXPECT_EQ(seen, static_cast<int>(ids.size()));
    }
}

TEST(Nodes, NoMembers) {
    EXPECT_EQ(Nodes().count(), 0);
    EXPECT_EQ(Nodes(std::span<const int>()).count(), 0);
}

} // namespace
} // namespace zipmpi::proto::coll
