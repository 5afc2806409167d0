// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/placement/policy_map.hpp"

#include <gtest/gtest.h>

using namespace zipmpi;
using namespace zipmpi::launch;

namespace {

struct Case {
    const char* name;
    std::vector<uint32_t> slots; // of each host
    uint32_t ranks;
    PlacementPolicy policy;
    uint32_t units;
    std::vector<uint32_t> expected; // host of each rank; empty: the ranks do not fit
};

PlacementPolicy policy(MapStrategy s, Unit unit, uint32_t per_unit = 0) {
    PlacementPolicy p;
    p.strategy = s;
    p.map_unit = unit;
    p.per_unit = per_unit;
    return p;
}

PlacementPolicy ranked(PlacementPolicy p, Unit by) {
    p.rank_by = by;
    return p;
}

PlacementPolicy with_cores(PlacementPolicy p, uint32_t each) {
    p.cores_per_rank = each;
    return p;
}

PlacementPolicy file(std::vector<PlacementPolicy::RankFileEntry> lines) {
    PlacementPolicy p = policy(MapStrategy::rank_file, Unit::automatic);
    p.rank_file = std::move(lines);
    return p;
}

constexpr MapStrategy in_turn = MapStrategy::round_robin, on_each = MapStrategy::per_unit;

const Case cases[] = {
    {"by slot", {2, 2}, 3, {}, 1, {0, 0, 1}},
    {"spread is within hosts", {2, 2}, 3, policy(MapStrategy::spread, Unit::automatic), 1, {0, 0, 1}},
    {"hosts round robin", {2, 2}, 4, policy(in_turn, Unit::node), 1, {0, 1, 0, 1}},
    {"sockets round robin", {2, 2}, 4, policy(in_turn, Unit::socket), 1, {0, 0, 1, 1}},
    {"two cores are two slots", {4, 4}, 4, with_cores({}, 2), 1, {0, 0, 1, 1}},
    {"fewer slots than cores", {1, 1}, 2, with_cores({}, 4), 1, {0, 1}},
    {"one per host", {9, 9, 9}, 2, policy(on_each, Unit::node, 1), 1, {0, 1}},
    {"two per host beat slots", {1, 1}, 4, policy(on_each, Unit::node, 2), 1, {0, 0, 1, 1}},
    {"two per socket", {1, 1}, 6, policy(on_each, Unit::socket, 2), 2, {0, 0, 0, 0, 1, 1}},
    {"too many ranks", {8, 8}, 5, policy(on_each, Unit::node, 2), 1, {}},
    {"rank by node", {2, 2}, 4, ranked({}, Unit::node), 1, {0, 1, 0, 1}},
    {"rank by slot", {2, 2}, 4, ranked(policy(in_turn, Unit::node), Unit::slot), 1, {0, 0, 1, 1}},
    {"a rank file", {1, 1}, 3, file({{2, "h0", "0"}, {0, "h1", "1"}, {1, "h0", ""}}), 1, {1, 0, 0}},
    {"hosts without ranks", {1, 1}, 1, file({{0, "h1", "1"}}), 1, {0}},
    {"a rank without a line", {1, 1}, 2, file({{0, "h0", "0"}}), 1, {}},
    {"a line without a rank", {1, 1}, 1, file({{0, "h0", "0"}, {1, "h0", "0"}}), 1, {}},
    {"another host", {1, 1}, 1, file({{0, "h7", "0"}}), 1, {}},
};

TEST(PolicyMap, Cases) {
    for (const Case& c : cases) {
        std::vector<Host> hosts;
        for (const uint32_t slots : c.slots) hosts.push_back({"h" + std::to_string(hosts.size()), slots});
        NodeMap map;
        Diagnostic why;
        ASSERT_EQ(map_by_policy(hosts, c.ranks, c.policy, c.units, map, why), !c.expected.empty()) << c.name;
        std::vector<uint32_t> got;
        for (uint32_t r = 0; r < map.size(); ++r) got.push_back(map.node_of(r));
        EXPECT_EQ(got, c.expected) << c.name;
        EXPECT_TRUE(c.expected.empty() || hosts.size() == map.nodes().size()) << c.name;
        EXPECT_EQ(why.what.empty(), !c.expected.empty()) << c.name;
    }
}

} // namespace
