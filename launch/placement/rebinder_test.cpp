// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/placement/rebinder.hpp"

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

bool are_colocated(const Rebinder& map, uint32_t bit) {
    const auto cpus = map.cpus();
    for (uint32_t r = 0; r < 8; ++r)
        if (cpus[r] != cpus[r ^ bit]) return false;
    return true;
}

// Two samples of this pattern.
Rebinder::RebindDecision observe_twice(Rebinder& map, const mapping::Graph& sent) {
    EXPECT_FALSE(map.observe(sent, 0.5).move);
    return map.observe(sent, 0.5);
}

TEST(Rebinder, FollowsPattern) {
    Rebinder map(two_cores, 8);
    for (const uint32_t bit : {1U, 4U, 2U}) { // no placement is right for all three
        EXPECT_TRUE(observe_twice(map, pairs(bit, 50'000)).move || are_colocated(map, bit)) << bit;
        EXPECT_TRUE(are_colocated(map, bit)) << bit;
        EXPECT_FALSE(observe_twice(map, pairs(bit, 55'000)).move); // as fast as before: the move is kept
    }
}

TEST(Rebinder, FollowsKnownPatternsWithoutTrial) {
    Rebinder map(two_cores, 8);
    for (const uint32_t bit : {1U, 2U, 4U}) {
        observe_twice(map, pairs(bit, 50'000));
        observe_twice(map, pairs(bit, 50'000));
    }
    for (const uint32_t bit : {1U, 2U, 4U, 1U}) {
        observe_twice(map, pairs(bit, 50'000));
        EXPECT_TRUE(are_colocated(map, bit)) << bit;
        EXPECT_FALSE(
            observe_twice(map, pairs(bit, 30'000)).move); // known to pay: a slow sample changes nothing
    }
}

TEST(Rebinder, WaitsForStablePattern) {
    Rebinder map(two_cores, 8);
    for (int i = 0; i < 10; ++i) EXPECT_FALSE(map.observe(pairs(i % 2 == 0 ? 1 : 2, 50'000), 0.5).move);
}

TEST(Rebinder, RevertsMoveThatDoesNotPay) {
    Rebinder map(two_cores, 8);
    EXPECT_TRUE(observe_twice(map, pairs(1, 50'000)).move);
    EXPECT_TRUE(observe_twice(map, pairs(1, 30'000)).move);
    EXPECT_EQ(map.cpus()[0], (CpuList{0, 1})); // unbound
    const Rebinder::RebindDecision measured = observe_twice(map, pairs(1, 50'000));
    EXPECT_FALSE(measured.move);
    EXPECT_NE(measured.reason.find("does not pay"), std::string::npos);
    for (int i = 0; i < 20; ++i) EXPECT_FALSE(observe_twice(map, pairs(1, 50'000)).move);
    EXPECT_TRUE(observe_twice(map, pairs(2, 50'000)).move); // another pattern is tried
    EXPECT_TRUE(are_colocated(map, 2));
    const Rebinder::RebindDecision again = observe_twice(map, pairs(1, 50'000));
    EXPECT_FALSE(again.move);
    EXPECT_NE(again.reason.find("does not pay"), std::string::npos);
}

TEST(Rebinder, ToleratesSlowMachine) {
    Rebinder map(two_cores, 8);
    EXPECT_TRUE(observe_twice(map, pairs(1, 50'000)).move);
    EXPECT_TRUE(observe_twice(map, pairs(1, 30'000)).move); // the rate drops
    EXPECT_TRUE(observe_twice(map, pairs(1, 30'000)).move); // and stays low at the previous CPUs
    EXPECT_TRUE(are_colocated(map, 1));
    EXPECT_FALSE(observe_twice(map, pairs(1, 20'000)).move);
}

TEST(Rebinder, RemapsAtOnce) {
    Rebinder map(two_cores, 8);
    EXPECT_TRUE(map.remap(pairs(1, 10)).move); // neither a second sample nor a high rate is needed
    EXPECT_TRUE(are_colocated(map, 1));
    EXPECT_FALSE(map.remap(pairs(1, 10)).move);
    EXPECT_TRUE(map.remap(pairs(2, 10)).move || are_colocated(map, 2));
    EXPECT_TRUE(are_colocated(map, 2));
    EXPECT_FALSE(map.remap(mapping::Graph(8, {})).move);
    EXPECT_FALSE(map.remap(mapping::graph_of(mapping::all_to_all(8))).move);
}

TEST(Rebinder, IgnoresSmallGains) {
    Rebinder map(two_cores, 8);
    EXPECT_FALSE(observe_twice(map, pairs(1, 10)).move);                              // low rate
    EXPECT_FALSE(observe_twice(map, mapping::graph_of(mapping::all_to_all(8))).move); // no gain
    Rebinder one({{{0}}, {two_cores.localities[0]}}, 8);
    EXPECT_FALSE(observe_twice(one, pairs(1, 50'000)).move);
    map.observe(pairs(1, 50'000), 0.5);
    EXPECT_FALSE(map.observe(pairs(1, 50'000), 0).move);
}

} // namespace
