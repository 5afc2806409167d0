// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/map/live.hpp"

#include "mapping/patterns.hpp"

#include <gtest/gtest.h>

using namespace zipmpi;
using namespace zipmpi::launch;

namespace {

const std::vector<CpuList> two_cores = {{0}, {1}};
const std::vector<topo::Place> two_places = {{0, 0, 0, 0, 0, 0}, {0, 0, 0, 1, 1, 1}};

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

TEST(Live, FollowsThePattern) {
    LiveMap map(two_cores, two_places, 8);
    EXPECT_TRUE(map.look(pairs(1, 50'000), 1).move);
    EXPECT_TRUE(together(map, 1));
    EXPECT_FALSE(map.look(pairs(1, 60'000), 1).move); // as fast as before: it stays
    EXPECT_FALSE(map.look(pairs(1, 55'000), 1).move);
    EXPECT_TRUE(map.look(pairs(4, 50'000), 1).move); // the pattern flips
    EXPECT_TRUE(together(map, 4));
}

TEST(Live, TakesBackWhatDoesNotPay) {
    LiveMap map(two_cores, two_places, 8);
    EXPECT_TRUE(map.look(pairs(1, 50'000), 1).move);
    const LiveMap::Decision back = map.look(pairs(1, 30'000), 1);
    EXPECT_TRUE(back.move);
    EXPECT_NE(back.why.find("does not pay"), std::string::npos);
    EXPECT_EQ(map.cpus()[0], (CpuList{0, 1})); // as the kernel likes
    for (int i = 0; i < 20; ++i) EXPECT_FALSE(map.look(pairs(1, 50'000), 1).move);
}

TEST(Live, StaysForLittle) {
    LiveMap map(two_cores, two_places, 8);
    EXPECT_FALSE(map.look(pairs(1, 10), 1).move);                                // nobody cares
    EXPECT_FALSE(map.look(mapping::graph_of(mapping::all_to_all(8)), 0.1).move); // nothing to gain
    LiveMap one({{0}}, {two_places[0]}, 8);
    EXPECT_FALSE(one.look(pairs(1, 50'000), 1).move);
    EXPECT_FALSE(map.look(pairs(1, 50'000), 0).move);
}

} // namespace
