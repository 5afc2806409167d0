// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What needs no hwloc.
#include "topo/node_places.hpp"
#include "topo/place.hpp"

#include <gtest/gtest.h>

using namespace zipmpi;
using namespace zipmpi::topo;

namespace {

TEST(Topology, LevelsByName) {
    Level level{};
    EXPECT_TRUE(level_named("NUMANode", level));
    EXPECT_EQ(level, Level::numa);
    EXPECT_TRUE(level_named("hwloc://L3Cache", level));
    EXPECT_EQ(level, Level::l3);
    EXPECT_TRUE(level_named("socket", level));
    EXPECT_EQ(level, Level::package);
    EXPECT_FALSE(level_named("", level));
    EXPECT_FALSE(level_named("core2", level));
    EXPECT_FALSE(level_named("cor", level));
    for (const Level l : levels) {
        ASSERT_TRUE(level_named(name(l), level));
        EXPECT_EQ(level, l);
    }
}

TEST(NodePlaces, NobodyWaitsForTheOneWhoLooks) {
    boot::NodeSegment segment;
    Problem why;
    ASSERT_TRUE(boot::NodeSegment::make("test", {0, 1}, 2, segment, why)) << why.why;
    segment.facts().places.store(wire::fact_in_work_by(1));
    EXPECT_FALSE(look_for_places(segment, 0));
}

TEST(NodePlaces, OneThatDiedWhileItLookedIsReplacedOnce) {
    boot::NodeSegment segment;
    Problem why;
    ASSERT_TRUE(boot::NodeSegment::make("test", {0, 1, 2}, 3, segment, why)) << why.why;
    uint32_t who = 0;
    EXPECT_FALSE(who_looks_for_places(segment, who));
    segment.facts().places.store(wire::fact_in_work_by(1));
    ASSERT_TRUE(who_looks_for_places(segment, who));
    EXPECT_EQ(who, 1U);
    segment.facts().places.store(wire::fact_in_work_by(2)); // another rank has replaced it already
    replace_who_looks(segment, 1);
    EXPECT_FALSE(look_for_places(segment, 0));
    replace_who_looks(segment, 2);
    EXPECT_TRUE(look_for_places(segment, 0));
    EXPECT_FALSE(who_looks_for_places(segment, who));
}

TEST(NodePlaces, WhoSleepsUntilTheyAreKnownIsWoken) {
    boot::NodeSegment segment;
    Problem why;
    ASSERT_TRUE(boot::NodeSegment::make("test", {0, 1}, 2, segment, why)) << why.why;
    const auto wakes = [&] { return segment.block(1).wake.load(); };
    segment.await_facts();
    EXPECT_TRUE(look_for_places(segment, 0));
    EXPECT_EQ(wakes(), 1U);
    set_place(segment, 0, {});
    EXPECT_EQ(wakes(), 1U) << "nobody sleeps any more";
    segment.await_facts();
    set_place(segment, 1, {});
    EXPECT_EQ(wakes(), 2U);
}

} // namespace
