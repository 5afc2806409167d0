// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/placement/node_map.hpp"

#include "boot/process_mapping.hpp"

#include <gtest/gtest.h>

using namespace zipmpi::launch;

namespace {

using Ranks = std::vector<uint32_t>;

TEST(NodeMap, BySlotFillsHosts) {
    std::vector<Host> hosts = {{"a", 2}, {"b", 3}, {"c", 4}};
    const NodeMap m = map_ranks(hosts, 4, MapBy::slot);
    EXPECT_EQ(hosts.size(), 2U); // c has no ranks
    EXPECT_EQ(m.ranks_of(0), (Ranks{0, 1}));
    EXPECT_EQ(m.ranks_of(1), (Ranks{2, 3}));
    EXPECT_EQ(m.node_of(3), 1U);
    EXPECT_EQ(m.pmi_text(), "(vector,(0,2,2))");
}

TEST(NodeMap, ByNodeIsRoundRobin) {
    std::vector<Host> hosts = {{"a", 1}, {"b", 3}, {"c", 2}};
    const NodeMap m = map_ranks(hosts, 6, MapBy::node);
    EXPECT_EQ(m.ranks_of(0), (Ranks{0}));
    EXPECT_EQ(m.ranks_of(1), (Ranks{1, 3, 5}));
    EXPECT_EQ(m.ranks_of(2), (Ranks{2, 4}));
    EXPECT_EQ(m.ranks_of_nodes(0, 3).text(), "0-5");
    EXPECT_EQ(m.ranks_of_nodes(0, 2).text(), "0-1,3,5");
    EXPECT_TRUE(m.ranks_of_nodes(3, 9).empty());
}

TEST(NodeMap, MoreRanksThanSlots) {
    std::vector<Host> hosts = {{"a", 1}, {"b", 1}};
    EXPECT_EQ(map_ranks(hosts, 5, MapBy::slot).ranks_of(1), (Ranks{3, 4}));
    hosts = {{"a", 1}, {"b", 1}};
    EXPECT_EQ(map_ranks(hosts, 5, MapBy::node).pmi_text(), "(vector,(0,2,1))");
}

TEST(NodeMap, OneHost) {
    std::vector<Host> hosts = {{"a", 7}};
    EXPECT_EQ(map_ranks(hosts, 7, MapBy::slot).pmi_text(), "(vector,(0,1,7))");
}

TEST(NodeMap, HostsOfDifferentSpeeds) {
    std::vector<Host> hosts = {{"slow", 8, 1}, {"idle", 1, 0.01}, {"fast", 8, 3}};
    const NodeMap m = map_ranks(hosts, 8, MapBy::slot);
    ASSERT_EQ(hosts.size(), 2U);
    EXPECT_EQ(hosts[1].name, "fast");
    EXPECT_EQ(m.ranks_of(0), (Ranks{0, 1}));
    EXPECT_EQ(m.ranks_of(1).size(), 6U);
    hosts = {{"a", 8, 2}, {"b", 8, 2}}; // equal speeds: the first is filled
    EXPECT_EQ(map_ranks(hosts, 8, MapBy::slot).ranks_of(0).size(), 8U);
}

TEST(NodeMap, NoRanks) {
    for (const double speed : {1.0, 3.0}) {
        std::vector<Host> hosts = {{"a", 8, 1}, {"b", 8, speed}};
        EXPECT_FALSE(share_by_speed(hosts, 0));
        EXPECT_EQ(hosts[1].slots, 8U);
        EXPECT_EQ(map_ranks(hosts, 0, MapBy::slot).size(), 0U);
        EXPECT_TRUE(hosts.empty());
    }
}

TEST(NodeMap, LibraryParsesPmiText) {
    for (const MapBy by : {MapBy::slot, MapBy::node})
        for (uint32_t n = 1; n < 40; ++n) {
            std::vector<Host> hosts = {{"a", 3}, {"b", 1}, {"c", 4}, {"d", 4}};
            const NodeMap m = map_ranks(hosts, n, by);
            for (uint32_t r = 0; r < n; ++r) {
                std::vector<int> library_nodes;
                ASSERT_TRUE(zipmpi::boot::parse_local_ranks(m.pmi_text(), static_cast<int>(r),
                                                            static_cast<int>(n), library_nodes));
                const Ranks expected = m.ranks_of(m.node_of(r));
                EXPECT_EQ(library_nodes, std::vector<int>(expected.begin(), expected.end())) << m.pmi_text();
            }
        }
}

} // namespace
