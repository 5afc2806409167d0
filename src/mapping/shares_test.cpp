// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mapping/shares.hpp"

#include <gtest/gtest.h>
#include <numeric>

namespace zipmpi::mapping {
namespace {

using Shares = std::vector<uint32_t>;

TEST(SharesBySpeed, ProportionalToSlotsTimesSpeed) {
    EXPECT_EQ(shares_by_speed({{8, 1}, {8, 1}}, 8), (Shares{4, 4}));
    EXPECT_EQ(shares_by_speed({{8, 1}, {8, 3}}, 8), (Shares{2, 6}));
    EXPECT_EQ(shares_by_speed({{4, 1}, {8, 1}, {4, 2}}, 10), (Shares{2, 4, 4}));
}

TEST(SharesBySpeed, SlotsAreALimitWhileTheySuffice) {
    EXPECT_EQ(shares_by_speed({{4, 1}, {4, 10}}, 7), (Shares{3, 4}));
    EXPECT_EQ(shares_by_speed({{4, 1}, {4, 10}}, 8), (Shares{4, 4}));
}

TEST(SharesBySpeed, MoreRanksThanSlots) {
    EXPECT_EQ(shares_by_speed({{1, 1}, {1, 2}}, 9), (Shares{3, 6}));
    EXPECT_EQ(shares_by_speed({{2, 1}, {0, 9}, {2, 1}}, 5), (Shares{3, 0, 2}));
}

// No other division ends earlier: moving a rank from the last target to another one ends later.
TEST(SharesBySpeed, NoMoveEndsEarlier) {
    const std::vector<SpeedTarget> targets = {{3, 0.7}, {1, 1}, {5, 1.3}, {2, 2.1}};
    for (uint32_t ranks = 12; ranks < 60; ++ranks) {
        const Shares share = shares_by_speed(targets, ranks);
        EXPECT_EQ(std::accumulate(share.begin(), share.end(), 0U), ranks);
        const auto time = [&](size_t t, uint32_t more) {
            return (share[t] + more) / (targets[t].slots * targets[t].speed);
        };
        double end = 0;
        for (size_t t = 0; t < targets.size(); ++t) end = std::max(end, time(t, 0));
        for (size_t t = 0; t < targets.size(); ++t) EXPECT_GE(time(t, 1), end - 1e-12) << ranks;
    }
}

TEST(SharesBySpeed, NoTargets) {
    EXPECT_TRUE(shares_by_speed({}, 3).empty());
    EXPECT_EQ(shares_by_speed({{2, 1}}, 0), Shares{0});
}

} // namespace
} // namespace zipmpi::mapping
