// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/placement/rank_ranges.hpp"

#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace zipmpi::launch;

namespace {

RankRanges parsed(std::string_view text) {
    RankRanges ranges;
    EXPECT_TRUE(RankRanges::parse(text, ranges)) << text;
    return ranges;
}

TEST(RankRanges, TextIsParsed) {
    EXPECT_EQ(parsed("0-2,5,7-7").text(), "0-2,5,7");
    EXPECT_EQ(parsed("7,3-4,5,0-3").text(), "0-5,7");
    EXPECT_EQ(parsed("0-4294967294").size(), UINT32_MAX);
    EXPECT_EQ(RankRanges().text(), "");
    for (const char* bad : {"", "3-1", "1,", "x", "1-", "-1", "0-7 ", "4294967296"}) {
        RankRanges none;
        EXPECT_FALSE(RankRanges::parse(bad, none)) << bad;
    }
}

TEST(RankRanges, BoundsAreAscendingAndDoNotTouch) {
    RankRanges ranges;
    EXPECT_EQ(parsed("0-2,5,7-9").bounds(), (std::vector<uint32_t>{0, 2, 5, 5, 7, 9}));
    EXPECT_TRUE(RankRanges::from_bounds({0, 2, 5, 5, 7, 9}, ranges));
    EXPECT_EQ(ranges, parsed("0-2,5,7-9"));
    EXPECT_TRUE(RankRanges::from_bounds({}, ranges));
    EXPECT_TRUE(ranges.empty());
    using Bounds = std::vector<uint32_t>;
    for (const Bounds& bad : {Bounds{0}, Bounds{3, 2}, Bounds{0, 2, 3, 4}, Bounds{5, 6, 0, 1},
                              Bounds{0, 3, 2, 4}, Bounds{0, UINT32_MAX, 0, 0}})
        EXPECT_FALSE(RankRanges::from_bounds(bad, ranges));
}

TEST(RankRanges, IsBelow) {
    EXPECT_TRUE(RankRanges().is_below(0));
    EXPECT_TRUE(parsed("0-2,7").is_below(8));
    EXPECT_FALSE(parsed("0-2,7").is_below(7));
}

// Random operations on ranges and on a set of numbers.
TEST(RankRanges, EqualsASet) {
    for (uint32_t seed = 1; seed <= 200; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        constexpr uint32_t limit = 60;
        const auto any_ranges = [&](std::set<uint32_t>& ranks) {
            RankRanges ranges;
            for (uint32_t n = random() % 4; n > 0; --n) {
                const uint32_t first = random() % limit;
                const uint32_t last = std::min<uint32_t>(first + random() % 8, limit - 1);
                ranges.add(first, last);
                for (uint32_t r = first; r <= last; ++r) ranks.insert(r);
            }
            return ranges;
        };
        std::set<uint32_t> expected;
        RankRanges ranges;
        for (int step = 0; step < 40; ++step) {
            std::set<uint32_t> ranks;
            const RankRanges other = any_ranges(ranks);
            std::set<uint32_t> common;
            for (const uint32_t r : ranks)
                if (expected.count(r) != 0) common.insert(r);
            std::set<uint32_t> listed;
            ranges.common_with(other).for_each([&](uint32_t r) { listed.insert(listed.end(), r); });
            EXPECT_EQ(listed, common);
            if (random() % 2 == 0) {
                ranges.add(other);
                expected.insert(ranks.begin(), ranks.end());
            } else {
                ranges.remove(other);
                for (const uint32_t r : ranks) expected.erase(r);
            }
            listed.clear();
            ranges.for_each([&](uint32_t r) { listed.insert(listed.end(), r); });
            ASSERT_EQ(listed, expected);
            EXPECT_EQ(ranges.size(), expected.size());
            EXPECT_EQ(ranges.empty(), expected.empty());
            for (uint32_t r = 0; r < limit; ++r) EXPECT_EQ(ranges.contains(r), expected.count(r) != 0);
            RankRanges copy;
            EXPECT_TRUE(RankRanges::from_bounds(ranges.bounds(), copy)) << ranges.text();
            EXPECT_EQ(copy, ranges);
        }
    }
}

} // namespace
