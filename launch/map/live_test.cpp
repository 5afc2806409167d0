// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/map/live.hpp"

#include "mapping/patterns.hpp"

#include <gtest/gtest.h>

using namespace zipmpi;
using namespace zipmpi::launch;

namespace {

const HostCores two_cores = {{{0}, {1}}, {{0, 0, 0, 0, 0, 0}, {0, 0, 0, 1, 1, 1}}};

// Partners differ in one bit.
mapping::Graph pairs(uint32_t bit, double weight) {
    std::vector<mapping::Edge> edges;
    for (uint32_t r = 0; r < 8; ++r)
        if ((r & bit) == 0) edges.push_back({r, r | bit, weight});
    return {8, edges};
}

bool together(const LiveMap& map, uint32_t bit) {
    const auto cpus = map.cpus();
    for (uint32_t r = 0; r < 8; ++r)
        if (cpus[r] != cpus[r ^ bit]) return false;
    return true;
}

// Two looks that see this.
LiveMap::Decision see(LiveMap& map, const mapping::Graph& sent) {
    EXPECT_FALSE(map.look(sent, 0.5).move);
    return map.look(sent, 0.5);
}

TEST(Live, FollowsThePattern) {
    LiveMap map(two_cores, 8);
    for (const uint32_t bit : {1U, 4U, 2U}) { // no placement is right for all three
        EXPECT_TRUE(see(map, pairs(bit, 50'000)).move || together(map, bit)) << bit;
        EXPECT_TRUE(together(map, bit)) << bit;
        EXPECT_FALSE(see(map, pairs(bit, 55'000)).move); // as fast as before: it stays
    }
}

TEST(Live, FollowsKnownPatternsWithoutATrial) {
    LiveMap map(two_cores, 8);
    for (const uint32_t bit : {1U, 2U, 4U}) {
        see(map, pairs(bit, 50'000));
        see(map, pairs(bit, 50'000));
    }
    for (const uint32_t bit : {1U, 2U, 4U, 1U}) {
        see(map, pairs(bit, 50'000));
        EXPECT_TRUE(together(map, bit)) << bit;
        EXPECT_FALSE(see(map, pairs(bit, 30'000)).move); // known to pay: a slow moment changes nothing
    }
}

TEST(Live, WaitsUntilThePatternIsClear) {
    LiveMap map(two_cores, 8);
    for (int i = 0; i < 10; ++i) EXPECT_FALSE(map.look(pairs(i % 2 == 0 ? 1 : 2, 50'000), 0.5).move);
}

TEST(Live, TakesBackWhatDoesNotPay) {
    LiveMap map(two_cores, 8);
    EXPECT_TRUE(see(map, pairs(1, 50'000)).move);
    EXPECT_TRUE(see(map, pairs(1, 30'000)).move);
    EXPECT_EQ(map.cpus()[0], (CpuList{0, 1})); // as the kernel likes
    const LiveMap::Decision measured = see(map, pairs(1, 50'000));
    EXPECT_FALSE(measured.move);
    EXPECT_NE(measured.why.find("does not pay"), std::string::npos);
    for (int i = 0; i < 20; ++i) EXPECT_FALSE(see(map, pairs(1, 50'000)).move);
    EXPECT_TRUE(see(map, pairs(2, 50'000)).move); // for another pattern it may pay
    EXPECT_TRUE(together(map, 2));
    const LiveMap::Decision again = see(map, pairs(1, 50'000));
    EXPECT_FALSE(again.move);
    EXPECT_NE(again.why.find("does not pay"), std::string::npos);
}

TEST(Live, IsNotFooledByASlowMachine) {
    LiveMap map(two_cores, 8);
    EXPECT_TRUE(see(map, pairs(1, 50'000)).move);
    EXPECT_TRUE(see(map, pairs(1, 30'000)).move); // it looks worse
    EXPECT_TRUE(see(map, pairs(1, 30'000)).move); // but so it does where the ranks were
    EXPECT_TRUE(together(map, 1));
    EXPECT_FALSE(see(map, pairs(1, 20'000)).move);
}

TEST(Live, StaysForLittle) {
    LiveMap map(two_cores, 8);
    EXPECT_FALSE(see(map, pairs(1, 10)).move);                              // nobody cares
    EXPECT_FALSE(see(map, mapping::graph_of(mapping::all_to_all(8))).move); // nothing to gain
    LiveMap one({{{0}}, {two_cores.places[0]}}, 8);
    EXPECT_FALSE(see(one, pairs(1, 50'000)).move);
    map.look(pairs(1, 50'000), 0.5);
    EXPECT_FALSE(map.look(pairs(1, 50'000), 0).move);
}

} // namespace
