// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/grid/plan.hpp"

#include "launch/grid/watch.hpp"

#include <gtest/gtest.h>

namespace zipmpi::launch {
namespace {

constexpr uint32_t front = TreePlan::no_parent;

GridFile two_clusters() {
    GridFile f;
    f.clusters = {{"a", {{"a1", 2}, {"a2", 2}}, "ssh -p 1", false}, {"b", {{"b1", 2}, {"b2", 2}}, "", false}};
    return f;
}

GridFile zipped(uint32_t slots = 0) {
    GridFile f = two_clusters();
    f.gateways = {{"z", {{0, ""}, {1, "eth1"}}, {}, slots, ""}};
    return f;
}

GridFile joined() {
    GridFile f = two_clusters();
    f.gateways = {{"ga", {{0, ""}}, {{"gb", "192.0.2.1:0", "", true}}, 0, ""}, {"gb", {{1, ""}}, {}, 0, ""}};
    return f;
}

StartRequest planned(const GridFile& file, uint32_t ranks, MapBy by = MapBy::slot, uint32_t width = 32) {
    StartRequest r;
    Problem why;
    EXPECT_TRUE(plan_grid(file, {ranks, by, width, "ssh"}, r, why)) << why.why;
    r.tree.daemon = "/d";
    r.tree.width = width;
    r.apps = {{r.world_size, "/p", {"p"}, {}, {}}};
    StartRequest back;
    EXPECT_TRUE(decode(encode(r), back)); // the tree is one that daemons accept
    return r;
}

TEST(GridPlan, AZipperStartsBothSides) {
    const StartRequest r = planned(zipped(), 8);
    EXPECT_EQ(r.tree.hosts, (std::vector<std::string>{"z", "a1", "a2", "b1", "b2"}));
    EXPECT_EQ(r.tree.parents, (std::vector<uint32_t>{front, 0, 0, 0, 0}));
    EXPECT_EQ(r.tree.agent(1)[1], "-p");
    EXPECT_EQ(r.tree.agent(3).size(), 1U);
    EXPECT_EQ(r.map.ranks_of(1), (std::vector<uint32_t>{0, 1}));
    EXPECT_EQ(r.map.ranks_of(4), (std::vector<uint32_t>{6, 7}));
    EXPECT_EQ(r.map.dense().ranks_of(0), (std::vector<uint32_t>{0, 1}));
    EXPECT_EQ(r.gateway_nodes, std::vector<uint32_t>{0});
    EXPECT_EQ(r.grid, "grid1 c a c b n 2 0 n 2 1 g z a 0 - a 1 eth1");
}

TEST(GridPlan, PairsStartTheirOwnSides) {
    const StartRequest r = planned(joined(), 0);
    EXPECT_EQ(r.world_size, 8U);
    EXPECT_EQ(r.tree.hosts, (std::vector<std::string>{"ga", "a1", "a2", "gb", "b1", "b2"}));
    EXPECT_EQ(r.tree.parents, (std::vector<uint32_t>{front, 0, 0, front, 3, 3}));
    EXPECT_EQ(r.gateway_nodes, (std::vector<uint32_t>{0, 3}));
    EXPECT_EQ(
        r.grid,
        "grid1 c a c b n 2 0 n 2 1 g ga a 0 - l 1 192.0.2.1:0 - untrusted g gb a 1 - l 0 - - untrusted");
}

TEST(GridPlan, RanksOnAZipperStandBetweenTheClusters) {
    const StartRequest r = planned(zipped(1), 9);
    EXPECT_EQ(r.map.ranks_of(0), std::vector<uint32_t>{4});
    EXPECT_EQ(r.map.ranks_of(3), (std::vector<uint32_t>{5, 6}));
    EXPECT_EQ(r.grid, "grid1 c a c b n 1 0+1 n 2 0 n 2 1 g z a 0 - a 1 eth1");
}

TEST(GridPlan, MoreRanksThanSlotsAndTurns) {
    const StartRequest r = planned(zipped(), 12, MapBy::node);
    EXPECT_EQ(r.map.ranks_of(1), (std::vector<uint32_t>{0, 2, 4, 6}));
    EXPECT_EQ(r.map.ranks_of(3), (std::vector<uint32_t>{8, 10}));
}

TEST(GridPlan, HostsWithoutRanksAreLeftOut) {
    const StartRequest r = planned(zipped(), 3);
    EXPECT_EQ(r.tree.hosts, (std::vector<std::string>{"z", "a1", "a2"}));
    EXPECT_EQ(r.grid, "grid1 c a c b n 2 0"); // and what reaches each other needs no gateways
    EXPECT_TRUE(r.gateway_nodes.empty());
}

TEST(GridPlan, NarrowTrees) {
    GridFile f = zipped();
    f.clusters[0].hosts = {{"a1", 1}, {"a2", 1}, {"a3", 1}, {"a4", 1}, {"a5", 1}};
    const StartRequest r = planned(f, 9, MapBy::slot, 2);
    EXPECT_EQ(r.tree.parents, (std::vector<uint32_t>{front, 0, 1, 1, 0, 4, 0, 0}));
    f.clusters[1].direct = true;
    EXPECT_EQ(planned(f, 9, MapBy::slot, 1).tree.parents,
              (std::vector<uint32_t>{front, 0, front, 2, 3, 4, 5, 6}));
}

TEST(GridPlan, ClustersMustBeJoined) {
    GridFile f = joined();
    f.gateways[0].links.clear();
    StartRequest r;
    Problem why;
    EXPECT_FALSE(plan_grid(f, {4, MapBy::slot, 32, "ssh"}, r, why));
    EXPECT_NE(why.why.find("from cluster a to b"), std::string::npos);
}

TEST(GridWatch, ALossIsOneWhenNoWayIsLeft) {
    GridFile f = zipped();
    f.gateways.push_back(f.gateways[0]);
    f.gateways[1].host = "y";
    const StartRequest r = planned(f, 8);
    GridWatch w;
    w.begin(r);
    EXPECT_FALSE(w.lose_nodes(1, 2)); // ranks
    EXPECT_TRUE(w.lose_nodes(5, 6));
    EXPECT_EQ(w.cut(), "");
    w.lose_gateway(0);
    EXPECT_EQ(w.cut(), "a and b");
}

TEST(GridWatch, ClustersWithoutRanksDoNotCount) {
    const StartRequest r = planned(zipped(), 4);
    GridWatch w;
    w.begin(r);
    w.lose_gateway(0);
    EXPECT_EQ(w.cut(), "");
}

} // namespace
} // namespace zipmpi::launch
