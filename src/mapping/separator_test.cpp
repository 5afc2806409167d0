// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mapping/assign.hpp"
#include "mapping/patterns.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

namespace zipmpi::mapping {
namespace {

const GraphTools* const no_tools = nullptr;

double separated_weight(const Matrix& m, const SideCapacity& capacity, const GraphTools* tools) {
    const Graph g = graph_of(m);
    const std::vector<uint32_t> side = separate(g, capacity, tools);
    EXPECT_LE(std::ranges::count(side, uint32_t{left}), capacity.left);
    EXPECT_LE(std::ranges::count(side, uint32_t{right}), capacity.right);
    EXPECT_LE(std::ranges::count(side, uint32_t{middle}), capacity.middle);
    return cut_weight(g, side);
}

double bisected_weight(const Matrix& m) {
    const Graph g = graph_of(m);
    double best = 1e300;
    for (const GraphTools* tools : {graph_tools(), no_tools})
        best = std::min(best, cut_weight(g, partition(g, {m.ranks / 2, m.ranks - m.ranks / 2}, tools)));
    return best;
}

TEST(Separate, GridByItsDiagonal) {
    for (const GraphTools* tools : {graph_tools(), no_tools}) {
        EXPECT_EQ(separated_weight(halo({16, 16}), {120, 120, 16}, tools),
                  0); // minimal capacity: only the diagonal fits
        EXPECT_EQ(separated_weight(halo({16, 16}), {128, 128, 16}, tools), 0);
        EXPECT_EQ(separated_weight(halo({4, 4}), {6, 6, 4}, tools), 0);
    }
}

TEST(Separate, HalfTheCapacityLeavesHalfTheCut) {
    const double cut = bisected_weight(halo({16, 16}));
    for (const GraphTools* tools : {graph_tools(), no_tools})
        EXPECT_LE(separated_weight(halo({16, 16}), {124, 124, 8}, tools), 0.55 * cut);
}

TEST(Separate, RingByTwoVertices) {
    Matrix ring;
    ASSERT_TRUE(parse_pattern("ring:32", ring));
    for (const GraphTools* tools : {graph_tools(), no_tools})
        EXPECT_EQ(separated_weight(ring, {15, 15, 2}, tools), 0);
}

TEST(Separate, NeverWorseThanBisection) {
    for (const uint64_t seed : {1, 2, 3}) {
        const Matrix m = random_pairs(64, 4, seed);
        for (const GraphTools* tools : {graph_tools(), no_tools})
            EXPECT_LE(separated_weight(m, {32, 32, 4}, tools), bisected_weight(m)) << "seed " << seed;
    }
    EXPECT_LE(separated_weight(all_to_all(16), {8, 8, 4}, graph_tools()), bisected_weight(all_to_all(16)));
}

// A cut with a known minimum cover: two stars.
TEST(Separate, FindsTheMinimumVertexCover) {
    std::vector<Edge> edges;
    for (uint32_t i = 0; i < 5; ++i) {
        edges.push_back({0, 10 + i, 1}); // center on the left
        edges.push_back({1 + i, 15, 1}); // center on the right
    }
    edges.push_back({6, 16, 1});
    const Graph g(20, edges);
    std::vector<uint32_t> side(20, left);
    std::fill(side.begin() + 10, side.end(), right);
    const std::vector<uint32_t> cover = minimum_vertex_cover(g, side);
    EXPECT_EQ(cover.size(), 3U);
    const std::set<uint32_t> in(cover.begin(), cover.end());
    for (const Edge& e : edges) EXPECT_TRUE(in.contains(e.a) || in.contains(e.b));
}

// Nodes: a, a, multihomed host, b, b. No traffic between a and b is left for gateways.
TEST(SeparateAtGateways, NothingIsForwarded) {
    std::vector<uint32_t> gateways(25);
    for (const uint32_t a : {0U, 1U})
        for (const uint32_t b : {3U, 4U}) gateways[a * 5 + b] = gateways[b * 5 + a] = 1;
    const Targets t = clusters_as_targets({3, 3, 4, 3, 3}, gateways);
    const Graph g = graph_of(halo({4, 4}));
    const Assignment at = assign_ranks(g, t, {1'000'000, 1, graph_tools()});
    for (uint32_t v = 0; v < g.size(); ++v)
        for (const Graph::Neighbor& l : g.neighbors(v)) EXPECT_EQ(gateways[at[v] * 5 + at[l.to]], 0U);
}

// Three clusters in a row with multihomed hosts between them: a chain of ranks crosses at both.
TEST(SeparateAtGateways, ChainOfClusters) {
    const std::vector<std::set<int>> clusters = {{0}, {0, 1}, {1}, {1, 2}, {2}};
    std::vector<uint32_t> gateways(25);
    for (size_t a = 0; a < 5; ++a)
        for (size_t b = 0; b < 5; ++b) {
            std::set<int> common;
            std::ranges::set_intersection(clusters[a], clusters[b], std::inserter(common, common.end()));
            if (common.empty()) gateways[a * 5 + b] = (a == 0 && b == 4) || (a == 4 && b == 0) ? 2 : 1;
        }
    const Targets t = clusters_as_targets({4, 1, 4, 1, 4}, gateways);
    Matrix line;
    ASSERT_TRUE(parse_pattern("halo:14", line));
    const Graph g = graph_of(line);
    for (const Assignment& at :
         {assign_ranks(g, t, {1'000'000, 1, no_tools}), separate_at_gateways(g, t, graph_tools())})
        for (uint32_t v = 0; v < g.size(); ++v)
            for (const Graph::Neighbor& l : g.neighbors(v))
                EXPECT_EQ(gateways[at[v] * 5 + at[l.to]], 0U) << v;
}

} // namespace
} // namespace zipmpi::mapping
