// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/coll/hierarchy.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace zipmpi::proto::coll {
namespace {

TEST(Nodes, ConsecutiveRanks) {
    const std::vector<int> ids = {4, 4, 4, 0, 0, 2};
    const NodePartition nodes(ids);
    EXPECT_EQ(nodes.count(), 3);
    EXPECT_TRUE(nodes.is_contiguous());
    EXPECT_FALSE(nodes.is_uniform());
    EXPECT_EQ(nodes.largest(), 3);
    EXPECT_EQ(nodes.first_rank(1), 3);
    EXPECT_EQ(nodes.first_rank(3), 6);
    EXPECT_EQ(nodes.node_of(2), 0);
    EXPECT_EQ(nodes.node_of(5), 2);
    EXPECT_EQ(nodes.local_rank_of(4), 1);
    EXPECT_EQ(nodes.member(1, 1), 4);
}

TEST(Nodes, CyclicRanks) {
    const std::vector<int> ids = {1, 0, 1, 0, 1};
    const NodePartition nodes(ids);
    EXPECT_EQ(nodes.count(), 2);
    EXPECT_FALSE(nodes.is_contiguous());
    EXPECT_EQ(nodes.size_of(0), 3);
    EXPECT_EQ(nodes.member(0, 2), 4);
    EXPECT_EQ(nodes.member(1, 0), 1);
    EXPECT_EQ(nodes.node_of(3), 1);
    EXPECT_EQ(nodes.local_rank_of(3), 1);
}

// A node whose id recurs after another node is still one node, and the partition is not contiguous.
TEST(Nodes, RecurringNodeId) {
    const std::vector<int> ids = {0, 0, 1, 0};
    const NodePartition nodes(ids);
    EXPECT_EQ(nodes.count(), 2);
    EXPECT_FALSE(nodes.is_contiguous());
    EXPECT_EQ(nodes.member(0, 2), 3);
}

TEST(Nodes, LookupsAreConsistent) {
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        std::vector<int> ids(1 + random() % 40);
        for (int& id : ids) id = static_cast<int>(random() % 6);
        if (round % 2 == 0) std::sort(ids.begin(), ids.end());
        const NodePartition nodes(ids);
        int seen = 0;
        for (int n = 0; n < nodes.count(); ++n)
            for (int i = 0; i < nodes.size_of(n); ++i, ++seen) {
                const int rank = nodes.member(n, i);
                EXPECT_EQ(nodes.node_of(rank), n);
                EXPECT_EQ(nodes.local_rank_of(rank), i);
                EXPECT_EQ(ids[static_cast<size_t>(rank)], ids[static_cast<size_t>(nodes.member(n, 0))]);
            }
        EXPECT_EQ(seen, static_cast<int>(ids.size()));
    }
}

TEST(Nodes, NoMembers) {
    EXPECT_EQ(NodePartition().count(), 0);
    EXPECT_EQ(NodePartition(std::span<const int>()).count(), 0);
}

} // namespace
} // namespace zipmpi::proto::coll
