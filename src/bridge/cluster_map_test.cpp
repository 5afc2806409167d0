// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/cluster_map.hpp"
#include "bridge/probe_ring.hpp"
#include "bridge/routes.hpp"

#include <gtest/gtest.h>
#include <random>

namespace zipmpi::bridge {
namespace {

using Numbers = std::vector<int>;

// blue and red with two gateways, and green behind a link from red.
ClusterMap three_clusters() {
    ClusterMap cluster_map;
    cluster_map.clusters = {{"blue"}, {"red"}, {"green"}};
    cluster_map.nodes = {{{0}}, {{0}}, {{1}}, {{0, 1}}, {{2}}};
    cluster_map.gateways = {{0, "zip1", {{0, "eth0"}, {1, "eth1"}}, {}},
                            {1, "zip2", {{0, ""}, {1, ""}}, {}},
                            {2, "gred", {{1, "mlx5_0:1,eth0"}}, {{3, "192.0.2.1:0", "", true}}},
                            {3, "ggreen", {{2, ""}}, {{2, "", "", true}}}};
    return cluster_map;
}

TEST(ClusterMap, RoundTrip) {
    const ClusterMap cluster_map = three_clusters();
    ASSERT_EQ(validate(cluster_map), "");
    const std::string text = print(cluster_map);
    EXPECT_EQ(text, "grid1 c blue c red c green n 2 0 n 1 1 n 1 0+1 n 1 2 g zip1 a 0 eth0 a 1 eth1 "
                    "g zip2 a 0 - a 1 - g gred a 1 mlx5_0:1,eth0 l 3 192.0.2.1:0 - untrusted "
                    "g ggreen a 2 - l 2 - - untrusted");
    ClusterMap again;
    ASSERT_TRUE(parse(text, again));
    EXPECT_EQ(print(again), text);
    EXPECT_EQ(again.nodes[3].clusters, (Numbers{0, 1}));
    EXPECT_TRUE(share_cluster(again.nodes[0], again.nodes[3]));
    EXPECT_FALSE(share_cluster(again.nodes[0], again.nodes[2]));
    EXPECT_TRUE(needs_gateways(again));
    again.nodes = {{{0}}, {{0, 1}}, {{0}}};
    EXPECT_FALSE(needs_gateways(again));
    again.nodes = {{{0, 1}}, {{0}}, {{1}}};
    EXPECT_TRUE(needs_gateways(again));
}

TEST(ClusterMap, InvalidTextIsRejected) {
    ClusterMap cluster_map;
    for (const char* text : {"",
                             "grid1",
                             "grid2 c blue",
                             "grid1 c",
                             "grid1 c blue c blue",
                             "grid1 c blue n 1 1",
                             "grid1 c blue n 0 0",
                             "grid1 c blue n 1",
                             "grid1 c blue n 1 0+",
                             "grid1 c blue n 1 +0",
                             "grid1 c blue n -1 0",
                             "grid1 c blue n 999999999 0",
                             "grid1 c blue a 0 -",
                             "grid1 c blue g - a 0 -",
                             "grid1 c blue g z a 1 -",
                             "grid1 c blue g z a 0 - a 0 -",
                             "grid1 c blue g z l 0 x - trusted",
                             "grid1 c blue g z l 1 x - trusted",
                             "grid1 c blue g y l 1 x - trusted g z l 0 x - trusted",
                             "grid1 c blue g y l 1 x - trusted g z l 0 - - untrusted",
                             "grid1 c blue g y l 1 x - perhaps g z l 0 - - perhaps",
                             "grid1 c blue  n 1 0",
                             "grid1 c blue x 1"})
        EXPECT_FALSE(parse(text, cluster_map)) << text;
}

TEST(ClusterMap, MutatedTextIsHandled) {
    const std::string text = print(three_clusters());
    std::mt19937 random(7);
    for (int i = 0; i < 20000; ++i) {
        std::string changed = text;
        for (int n = static_cast<int>(random() % 4); n >= 0; --n)
            changed[random() % changed.size()] = static_cast<char>(random() % 128);
        ClusterMap cluster_map;
        if (parse(changed, cluster_map)) {
            EXPECT_EQ(validate(cluster_map), "");
        }
    }
}

TEST(RoutingTable, PathsAreTheNearestGatewaysThatAreUp) {
    const ClusterMap cluster_map = three_clusters();
    RoutingTable routes(cluster_map);
    const Numbers blue{0};
    const Numbers red{1};
    const Numbers green{2};
    EXPECT_EQ(routes.nearest_gateways(blue, red), (Numbers{0, 1}));
    EXPECT_EQ(routes.nearest_gateways(blue, green), (Numbers{0, 1}));
    EXPECT_EQ(routes.nearest_gateways(red, green), (Numbers{2}));
    EXPECT_EQ(routes.nearest_gateways(green, blue), (Numbers{3}));
    EXPECT_EQ(routes.distance(0, green), 3);
    EXPECT_EQ(routes.distance(3, Numbers{0, 1}), 2);
    routes.set_gateway_up(1, false);
    EXPECT_EQ(routes.nearest_gateways(blue, red), (Numbers{0}));
    routes.set_gateway_up(0, false);
    EXPECT_TRUE(routes.nearest_gateways(blue, red).empty());
    EXPECT_TRUE(routes.nearest_gateways(green, blue).empty());
    routes.set_gateway_up(1, true);
    EXPECT_EQ(routes.nearest_gateways(green, blue), (Numbers{3}));
    routes.set_link_up(3, 2, false);
    EXPECT_TRUE(routes.nearest_gateways(red, green).empty());
    routes.set_link_up(2, 3, true);
    EXPECT_EQ(routes.nearest_gateways(red, green), (Numbers{2}));
}

TEST(ProbeRing, GatewaysAreBetweenRanks) {
    const ClusterMap cluster_map = three_clusters();
    const Numbers first{0, 2, 4, 6, 8}; // ranks, of a job of ten
    const ProbePartners blue = probe_partners(cluster_map, 0, first, 10, 10);
    EXPECT_EQ(blue.incoming, Numbers{0}); // 0 g0 2 g1 6
    EXPECT_EQ(blue.next, 2);
    EXPECT_EQ(probe_partners(cluster_map, 0, first, 10, 6).next, 0);
    EXPECT_EQ(probe_partners(cluster_map, 2, first, 10, 13).next, 8);
    EXPECT_EQ(probe_partners(cluster_map, 2, first, 10, 0).next, -1);
}

// A rank on the host of a gateway would reach it by every device, including those that reach no other host.
TEST(ProbeRing, NoProbesWithinAHost) {
    ClusterMap cluster_map;
    ASSERT_TRUE(parse("grid1 c a c b n 1 0+1 n 2 0 n 2 1 g z a 0 - a 1 -", cluster_map));
    const Numbers first{2, 0, 1, 3, 4};
    for (const int cluster : {0, 1}) {
        const ProbePartners of_rank = probe_partners(cluster_map, cluster, first, 5, 2);
        EXPECT_LT(of_rank.next, 5);
        for (const int partner : of_rank.incoming) EXPECT_LT(partner, 5);
    }
}

TEST(ProbeRing, SurplusGatewaysProbeRanks) {
    const ClusterMap cluster_map = three_clusters();
    const Numbers first{0, -1, -1, -1, -1}; // one node of the first cluster, which has two gateways
    ClusterMap small = cluster_map;
    small.nodes.resize(1);
    EXPECT_EQ(probe_partners(small, 0, first, 1, 0).next, 1); // 0 g0, and g1 probes 0
    EXPECT_EQ(probe_partners(small, 0, first, 1, 0).incoming, (Numbers{1, 2}));
    EXPECT_EQ(probe_partners(small, 0, first, 1, 2).next, 0);
    EXPECT_TRUE(probe_partners(small, 0, first, 1, 2).incoming.empty());
}

TEST(RoutingTable, EveryHopComesCloser) {
    const ClusterMap cluster_map = three_clusters();
    const RoutingTable routes(cluster_map);
    const Numbers blue{0};
    const Numbers green{2};
    std::vector<Hop> hops = routes.next_hops(3, blue);
    ASSERT_EQ(hops.size(), 1U);
    EXPECT_EQ(hops[0].kind, Hop::Kind::link);
    EXPECT_EQ(hops[0].gateway, 2);
    EXPECT_EQ(hops[0].link, 0);
    hops = routes.next_hops(2, blue);
    ASSERT_EQ(hops.size(), 2U);
    EXPECT_EQ(hops[0].kind, Hop::Kind::gateway);
    EXPECT_EQ(hops[0].cluster, 1);
    hops = routes.next_hops(0, blue);
    ASSERT_EQ(hops.size(), 1U);
    EXPECT_EQ(hops[0].kind, Hop::Kind::rank);
    EXPECT_EQ(hops[0].cluster, 0);
    EXPECT_EQ(routes.next_hops(0, green).size(), 1U);
}

} // namespace
} // namespace zipmpi::bridge
