// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/clusters/cluster_plan.hpp"

#include "launch/clusters/reachability.hpp"

#include "mapping/patterns.hpp"

#include <gtest/gtest.h>

namespace zipmpi::launch {
namespace {

constexpr uint32_t mpiexec = LaunchTree::no_parent;

ClusterFile two_clusters() {
    ClusterFile f;
    f.clusters = {{"a", {{"a1", 2}, {"a2", 2}}, "ssh -p 1", false}, {"b", {{"b1", 2}, {"b2", 2}}, "", false}};
    return f;
}

ClusterFile one_gateway(uint32_t slots = 0) {
    ClusterFile f = two_clusters();
    f.gateways = {{"z", {{0, ""}, {1, "eth1"}}, {}, slots, ""}};
    return f;
}

ClusterFile linked_gateways() {
    ClusterFile f = two_clusters();
    f.gateways = {{"ga", {{0, ""}}, {{"gb", "192.0.2.1:0", "", true}}, 0, ""}, {"gb", {{1, ""}}, {}, 0, ""}};
    return f;
}

StartRequest make_plan(const ClusterFile& file, uint32_t ranks, MapBy by = MapBy::slot,
                       uint32_t fanout = 32) {
    StartRequest r;
    Diagnostic why;
    EXPECT_TRUE(plan_clusters(file, {ranks, by, fanout, "ssh"}, r, why)) << why.why;
    r.tree.daemon = "/d";
    r.tree.fanout = fanout;
    r.apps = {{r.world_size, "/p", {"p"}, {}, {}}};
    StartRequest decoded;
    EXPECT_TRUE(decode(encode(r), decoded)); // daemons accept the tree
    return r;
}

TEST(ClusterPlan, MultihomedGatewayStartsBothSides) {
    const StartRequest r = make_plan(one_gateway(), 8);
    EXPECT_EQ(r.tree.hosts, (std::vector<std::string>{"z", "a1", "a2", "b1", "b2"}));
    EXPECT_EQ(r.tree.parents, (std::vector<uint32_t>{mpiexec, 0, 0, 0, 0}));
    EXPECT_EQ(r.tree.agent(1)[1], "-p");
    EXPECT_EQ(r.tree.agent(3).size(), 1U);
    EXPECT_EQ(r.map.ranks_of(1), (std::vector<uint32_t>{0, 1}));
    EXPECT_EQ(r.map.ranks_of(4), (std::vector<uint32_t>{6, 7}));
    EXPECT_EQ(r.map.dense().ranks_of(0), (std::vector<uint32_t>{0, 1}));
    EXPECT_EQ(r.gateway_nodes, std::vector<uint32_t>{0});
    EXPECT_EQ(r.cluster_map, "grid1 c a c b n 2 0 n 2 1 g z a 0 - a 1 eth1");
}

TEST(ClusterPlan, PairedGatewaysStartTheirSides) {
    const StartRequest r = make_plan(linked_gateways(), 0);
    EXPECT_EQ(r.world_size, 8U);
    EXPECT_EQ(r.tree.hosts, (std::vector<std::string>{"ga", "a1", "a2", "gb", "b1", "b2"}));
    EXPECT_EQ(r.tree.parents, (std::vector<uint32_t>{mpiexec, 0, 0, mpiexec, 3, 3}));
    EXPECT_EQ(r.gateway_nodes, (std::vector<uint32_t>{0, 3}));
    EXPECT_EQ(
        r.cluster_map,
        "grid1 c a c b n 2 0 n 2 1 g ga a 0 - l 1 192.0.2.1:0 - untrusted g gb a 1 - l 0 - - untrusted");
}

TEST(ClusterPlan, RanksOnGatewayHostComeBetweenClusters) {
    const StartRequest r = make_plan(one_gateway(1), 9);
    EXPECT_EQ(r.map.ranks_of(0), std::vector<uint32_t>{4});
    EXPECT_EQ(r.map.ranks_of(3), (std::vector<uint32_t>{5, 6}));
    EXPECT_EQ(r.cluster_map, "grid1 c a c b n 1 0+1 n 2 0 n 2 1 g z a 0 - a 1 eth1");
}

TEST(ClusterPlan, OversubscribedAndRoundRobin) {
    const StartRequest r = make_plan(one_gateway(), 12, MapBy::node);
    EXPECT_EQ(r.map.ranks_of(1), (std::vector<uint32_t>{0, 2, 4, 6}));
    EXPECT_EQ(r.map.ranks_of(3), (std::vector<uint32_t>{8, 10}));
}

std::vector<size_t> ranks_per_host(const StartRequest& r) {
    std::vector<size_t> count;
    for (const uint32_t node : r.map.nodes()) count.push_back(r.map.ranks_of(node).size());
    return count;
}

TEST(ClusterPlan, FasterClusterGetsMoreRanks) {
    ClusterFile f = two_clusters();
    f.gateways = {{"z", {{0, ""}, {1, "eth1"}}, {}, 4, "", 0.5}};
    for (auto& c : f.clusters)
        for (Host& h : c.hosts) h = {h.name, 4, c.name == "b" ? 3.0 : 1.0};
    EXPECT_EQ(ranks_per_host(make_plan(f, 10)), (std::vector<size_t>{1, 1, 4, 4})); // z has none
    EXPECT_EQ(ranks_per_host(make_plan(f, 0)), (std::vector<size_t>{4, 4, 4, 4, 4}));
    mapping::Matrix line;
    ASSERT_TRUE(mapping::parse_pattern("halo:10", line));
    const mapping::Graph graph = mapping::graph_of(line);
    StartRequest r;
    Diagnostic why;
    ASSERT_TRUE(plan_clusters(f, {0, MapBy::slot, 32, "ssh", &graph}, r, why)) << why.why;
    EXPECT_EQ(ranks_per_host(r), (std::vector<size_t>{1, 1, 4, 4}));
}

TEST(ClusterPlan, HostsWithoutRanksAreRemoved) {
    const StartRequest r = make_plan(one_gateway(), 3);
    EXPECT_EQ(r.tree.hosts, (std::vector<std::string>{"z", "a1", "a2"}));
    EXPECT_EQ(r.cluster_map, "grid1 c a c b n 2 0"); // hosts of one cluster need no gateways
    EXPECT_TRUE(r.gateway_nodes.empty());
}

TEST(ClusterPlan, NarrowTrees) {
    ClusterFile f = one_gateway();
    f.clusters[0].hosts = {{"a1", 1}, {"a2", 1}, {"a3", 1}, {"a4", 1}, {"a5", 1}};
    const StartRequest r = make_plan(f, 9, MapBy::slot, 2);
    EXPECT_EQ(r.tree.parents, (std::vector<uint32_t>{mpiexec, 0, 1, 1, 0, 4, 0, 0}));
    f.clusters[1].direct = true;
    EXPECT_EQ(make_plan(f, 9, MapBy::slot, 1).tree.parents,
              (std::vector<uint32_t>{mpiexec, 0, mpiexec, 2, 3, 4, 5, 6}));
}

TEST(ClusterPlan, ClustersMustBeConnected) {
    ClusterFile f = linked_gateways();
    f.gateways[0].links.clear();
    StartRequest r;
    Diagnostic why;
    EXPECT_FALSE(plan_clusters(f, {4, MapBy::slot, 32, "ssh"}, r, why));
    EXPECT_NE(why.why.find("from cluster a to b"), std::string::npos);
}

TEST(ClusterReachability, ReportsPartitionWithoutPath) {
    ClusterFile f = one_gateway();
    f.gateways.push_back(f.gateways[0]);
    f.gateways[1].host = "y";
    const StartRequest r = make_plan(f, 8);
    ClusterReachability w;
    w.begin(r);
    EXPECT_FALSE(w.fail_nodes(1, 2)); // ranks
    EXPECT_TRUE(w.fail_nodes(5, 6));
    EXPECT_EQ(w.find_partition(), "");
    w.fail_gateway(0);
    EXPECT_EQ(w.find_partition(), "a and b");
}

TEST(ClusterReachability, ClustersWithoutRanksDoNotCount) {
    const StartRequest r = make_plan(one_gateway(), 4);
    ClusterReachability w;
    w.begin(r);
    w.fail_gateway(0);
    EXPECT_EQ(w.find_partition(), "");
}

} // namespace
} // namespace zipmpi::launch
