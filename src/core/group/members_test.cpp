// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/group/members.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace zipmpi::core {
namespace {

TEST(Members, ConstantStrideNeedsNoTable) {
    EXPECT_TRUE(Members({4, 5, 6}).map().strided());
    EXPECT_TRUE(Members({9, 6, 3, 0}).map().strided());
    EXPECT_TRUE(Members({7}).map().strided());
    EXPECT_TRUE(Members(std::vector<int>()).map().strided());
    EXPECT_FALSE(Members({0, 1, 3}).map().strided());
}

TEST(Members, EqualityIgnoresRepresentation) {
    const Members shared({0, 2, 3});
    const Members copy = shared; // one table
    EXPECT_TRUE(shared == copy);
    EXPECT_TRUE(shared == Members({0, 2, 3}));
    EXPECT_FALSE(shared == Members({0, 3, 2}));
    EXPECT_FALSE(shared == Members({0, 2}));
    EXPECT_TRUE(Members({5}) == Members(proto::RankMap(5, 3), 1));
}

void expect_found(const std::vector<int>& ranks) {
    const Members members(ranks);
    const RankIndex index(members);
    for (int world = -3; world < 3000; ++world) {
        int expected = -1;
        for (size_t r = 0; r < ranks.size(); ++r)
            if (ranks[r] == world) expected = static_cast<int>(r);
        ASSERT_EQ(members.find(world), expected) << world;
        ASSERT_EQ(index[world], expected) << world;
    }
}

TEST(Members, FindsRanksInEveryRepresentation) {
    expect_found({});
    expect_found({17});
    expect_found({3, 5, 7, 9});
    expect_found({9, 7, 5, 3});
    expect_found({0, 2, 1});          // dense
    expect_found({2900, 1, 7, 1500}); // sparse
}

TEST(Members, FindsRanksOfRandomLists) {
    std::mt19937 random(5);
    for (int round = 0; round < 20; ++round) {
        std::vector<int> ranks;
        const unsigned gap = 1 + random() % 40;
        for (int world = 0; world < 2900; world += 1 + static_cast<int>(random() % gap))
            ranks.push_back(world);
        std::shuffle(ranks.begin(), ranks.end(), random);
        expect_found(ranks);
    }
}

} // namespace
} // namespace zipmpi::core
