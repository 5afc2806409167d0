// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mapping/assign.hpp"
#include "mapping/patterns.hpp"
#include "mapping/random.hpp"
#include "mapping/synthetic_machine.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <set>

namespace zipmpi::mapping {
namespace {

std::vector<int> cpus_of(const SyntheticMachine& m, const CoreOrder& order, size_t count) {
    std::vector<int> cpus;
    for (size_t i = 0; i < count; ++i) cpus.push_back(m.cpus[order[i]]);
    return cpus;
}

// The three cases of four processes on eight cores.
TEST(Orders, CompactSpreadAndKernel) {
    const SyntheticMachine m(eight_cores);
    if (!m.known) GTEST_SKIP() << "no hwloc";
    EXPECT_EQ(cpus_of(m, compact_order(m.cores), 4), (std::vector<int>{0, 4, 2, 6}));
    EXPECT_EQ(cpus_of(m, spread_order(m.cores), 8), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(kernel_order(m.cores, m.cpus), spread_order(m.cores));
}

TEST(Orders, UnequalSocketsKeepAllCores) {
    std::vector<hwtopo::Locality> cores;
    for (uint16_t c = 0; c < 7; ++c) cores.push_back({static_cast<uint16_t>(c / 5), 0, 0, c, c, c});
    EXPECT_EQ(spread_order(cores), (CoreOrder{0, 5, 1, 6, 2, 3, 4}));
    EXPECT_TRUE(spread_order({}).empty());
}

TEST(Targets, CapacityEqualsRanks) {
    const SyntheticMachine m(eight_cores);
    if (!m.known) GTEST_SKIP() << "no hwloc";
    for (const uint32_t ranks : {1U, 4U, 8U, 11U, 64U})
        EXPECT_EQ(cores_as_targets(m.cores, ranks, spread_order(m.cores)).total_capacity(), ranks);
    const Targets few = cores_as_targets(m.cores, 2, spread_order(m.cores));
    EXPECT_EQ(few.capacity[0] + few.capacity[4], 2U); // one on each socket
}

std::set<std::set<uint32_t>> groups_by_l2(const SyntheticMachine& m, const Assignment& a) {
    std::map<uint16_t, std::set<uint32_t>> by_cache;
    for (uint32_t r = 0; r < a.size(); ++r) by_cache[m.cores[a[r]].l2].insert(r);
    std::set<std::set<uint32_t>> groups;
    for (const auto& [cache, ranks] : by_cache) groups.insert(ranks);
    return groups;
}

// Sixteen ranks of CG on eight cores: each row of the process grid on a pair of cores with a common cache,
// also if the ranks are permuted.
TEST(AssignRanks, RowsOfCgShareCaches) {
    const SyntheticMachine m(eight_cores);
    if (!m.known) GTEST_SKIP() << "no hwloc";
    const Targets targets = cores_as_targets(m.cores, 16, spread_order(m.cores));
    for (uint64_t seed = 0; seed < 5; ++seed) {
        std::vector<uint32_t> name(16);
        std::iota(name.begin(), name.end(), 0U);
        if (seed > 0) Random(seed).shuffle(name);
        Matrix matrix = cg(16);
        for (Traffic& t : matrix.pairs) t.from = name[t.from], t.to = name[t.to];
        std::set<std::set<uint32_t>> rows;
        for (uint32_t row = 0; row < 4; ++row)
            rows.insert({name[row * 4], name[row * 4 + 1], name[row * 4 + 2], name[row * 4 + 3]});
        for (const GraphTools* tools : {graph_tools(), static_cast<const GraphTools*>(nullptr)}) {
            Effort effort;
            effort.tools = tools;
            effort.budget = 2'000'000;
            EXPECT_EQ(groups_by_l2(m, assign_ranks(graph_of(matrix), targets, effort)), rows)
                << "seed " << seed;
        }
    }
}

TEST(AssignRanks, KeepsTheFirstOfEqualAssignments) {
    const SyntheticMachine m(sixteen_cores);
    if (!m.known) GTEST_SKIP() << "no hwloc";
    const Targets targets = cores_as_targets(m.cores, 16, compact_order(m.cores));
    const Graph no_traffic(16, {});
    EXPECT_EQ(assign_ranks(no_traffic, targets, {}), assign_block(16, targets));
    EXPECT_EQ(assign_ranks(graph_of(all_to_all(16)), targets, {}), assign_block(16, targets));
}

TEST(AssignRanks, EdgeCases) {
    const Targets one = nodes_as_targets({3});
    EXPECT_EQ(assign_ranks(graph_of(all_to_all(3)), one, {}), (Assignment{0, 0, 0}));
    EXPECT_TRUE(assign_ranks(Graph(0, {}), one, {}).empty());
    const Targets wide =
        nodes_as_targets({0, 2, 0, 5}); // nodes without capacity, and more capacity than ranks
    const Assignment a = assign_ranks(graph_of(halo({2, 3})), wide, {});
    EXPECT_LE(std::ranges::count(a, 1U), 2);
    EXPECT_EQ(std::ranges::count(a, 0U) + std::ranges::count(a, 2U), 0);
}

// Ranks over hosts: rows of a grid stay together.
TEST(AssignRanks, TwoHostsCutAHaloOnce) {
    const Targets hosts = nodes_as_targets({32, 32});
    const Graph g = graph_of(halo({4, 16}));
    std::vector<uint32_t> side = assign_ranks(g, hosts, {0, 1, graph_tools()});
    EXPECT_LE(cut_weight(g, side),
              4 * 2 * 500.0); // four edges, both directions: 100 messages of 16 KiB weigh 500
}

} // namespace
} // namespace zipmpi::mapping
