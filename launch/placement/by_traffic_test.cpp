// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/placement/by_traffic.hpp"

#include "mapping/patterns.hpp"
#include "mapping/synthetic_machine.hpp"

#include <algorithm>
#include <gtest/gtest.h>

using namespace zipmpi;
using namespace zipmpi::launch;

namespace {

mapping::Matrix pattern(const char* name) {
    mapping::Matrix m;
    EXPECT_TRUE(mapping::parse_pattern(name, m)) << name;
    return m;
}

TEST(ByTraffic, HostsKeepTheirNumberOfRanks) {
    // Partners are half the ranks apart.
    mapping::Matrix m{8, {}};
    for (uint32_t r = 0; r < 4; ++r) m.pairs.push_back({r, r + 4, 10, 0, 0, 0});
    std::vector<Host> hosts = {{"a", 4}, {"b", 2}, {"c", 8}, {"d", 1}};
    const NodeMap map = map_ranks_by_traffic(mapping::graph_of(m), hosts, nullptr);
    EXPECT_EQ(hosts.size(), 3U);
    EXPECT_EQ(map.ranks_of(0).size(), 4U);
    EXPECT_EQ(map.ranks_of(1).size(), 2U);
    for (uint32_t r = 0; r < 4; ++r) EXPECT_EQ(map.node_of(r), map.node_of(r + 4));
    const auto traffic = traffic_within_nodes(mapping::graph_of(m), map);
    EXPECT_EQ(traffic.size(), 4U);
    const std::vector<uint32_t> here = map.ranks_of(0);
    EXPECT_EQ(launch::local_traffic_graph(traffic, here).neighbor_count(),
              4U); // two pairs, counted from both sides
}

// Sixteen ranks of CG on eight cores may use both cores below their cache; eight have a core each.
TEST(ByTraffic, CoresOfANode) {
    hwtopo::Machine machine;
    if (!hwtopo::read_machine(machine, mapping::eight_cores)) GTEST_SKIP() << "no hwloc";
    CpuList all;
    for (const auto& c : machine.cpus) all.push_back(c.cpu);
    std::sort(all.begin(), all.end());
    const HostCores cores = cores_of(machine, all);
    const auto placed = [&](const char* name, uint32_t ranks, uint32_t threads, Unit bind) {
        PlacementRequest q;
        q.ranks = ranks;
        q.threads = threads;
        q.usable_cores = 8;
        q.policy.bind_to = bind;
        return assign_cpus_by_traffic(mapping::graph_of(pattern(name)), q, cores, nullptr);
    };
    const auto sixteen = placed("cg:16", 16, 0, Unit::automatic);
    for (uint32_t r = 0; r < 16; ++r) {
        EXPECT_EQ(sixteen[r].size(), 2U);
        EXPECT_EQ(sixteen[r], sixteen[r / 4 * 4]);
    }
    EXPECT_EQ(sixteen[0], (CpuList{0, 4}));
    for (const CpuList& cpus : placed("ring:8", 8, 0, Unit::core)) EXPECT_EQ(cpus.size(), 1U);
    for (const CpuList& cpus : placed("ring:4", 4, 2, Unit::automatic)) EXPECT_EQ(cpus.size(), 2U);
    for (const CpuList& cpus : placed("cg:16", 16, 0, Unit::none)) EXPECT_TRUE(cpus.empty());
}

TEST(ByTraffic, ReportsMismatch) {
    Diagnostic why;
    mapping::Matrix m;
    EXPECT_FALSE(read_matrix_file("/no/such/file", m, why));
    EXPECT_EQ(why.what, "the communication matrix cannot be read");
    EXPECT_FALSE(check_matrix_size(pattern("ring:8"), "f", 4, why));
    EXPECT_EQ(why.why, "it is for 8 ranks, and this job has 4");
}

} // namespace
