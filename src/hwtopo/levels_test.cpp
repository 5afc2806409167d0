// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Tests that need no hwloc.
#include "hwtopo/machine.hpp"
#include "hwtopo/node_locality.hpp"

#include <gtest/gtest.h>

using namespace zipmpi;
using namespace zipmpi::hwtopo;

namespace {

TEST(Topology, LevelsByName) {
    Level level{};
    EXPECT_TRUE(parse_level("NUMANode", level));
    EXPECT_EQ(level, Level::numa);
    EXPECT_TRUE(parse_level("hwloc://L3Cache", level));
    EXPECT_EQ(level, Level::l3);
    EXPECT_TRUE(parse_level("socket", level));
    EXPECT_EQ(level, Level::package);
    EXPECT_FALSE(parse_level("", level));
    EXPECT_FALSE(parse_level("core2", level));
    EXPECT_FALSE(parse_level("cor", level));
    for (const Level l : levels) {
        ASSERT_TRUE(parse_level(name(l), level));
        EXPECT_EQ(level, l);
    }
}

TEST(NodeLocality, DiscoveryByAnotherRankDoesNotBlock) {
    segment::NodeSegment segment;
    Diagnostic why;
    ASSERT_TRUE(segment::NodeSegment::make("test", {0, 1}, 2, segment, why)) << why.why;
    segment.node_info().shared().localities.store(wire::info_in_progress_by(1));
    EXPECT_FALSE(discover_localities(segment, 0));
}

TEST(NodeLocality, DeadDiscoveringRankIsReplacedOnce) {
    segment::NodeSegment segment;
    Diagnostic why;
    ASSERT_TRUE(segment::NodeSegment::make("test", {0, 1, 2}, 3, segment, why)) << why.why;
    uint32_t who = 0;
    EXPECT_FALSE(discovering_rank(segment, who));
    segment.node_info().shared().localities.store(wire::info_in_progress_by(1));
    ASSERT_TRUE(discovering_rank(segment, who));
    EXPECT_EQ(who, 1U);
    segment.node_info().shared().localities.store(
        wire::info_in_progress_by(2)); // another rank has replaced it already
    reset_discovery(segment, 1);
    EXPECT_FALSE(discover_localities(segment, 0));
    reset_discovery(segment, 2);
    EXPECT_TRUE(discover_localities(segment, 0));
    EXPECT_FALSE(discovering_rank(segment, who));
}

TEST(NodeLocality, SleepingRankIsWokenByDiscovery) {
    segment::NodeSegment segment;
    Diagnostic why;
    ASSERT_TRUE(segment::NodeSegment::make("test", {0, 1}, 2, segment, why)) << why.why;
    const auto wakes = [&] { return segment.block(1).wake.load(); };
    segment.node_info().await();
    EXPECT_TRUE(discover_localities(segment, 0));
    EXPECT_EQ(wakes(), 1U);
    set_locality(segment, 0, {});
    EXPECT_EQ(wakes(), 1U) << "no rank sleeps";
    segment.node_info().await();
    set_locality(segment, 1, {});
    EXPECT_EQ(wakes(), 2U);
}

} // namespace
