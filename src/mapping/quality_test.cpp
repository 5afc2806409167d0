// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Quality of assignments compared with random ones and local optima. The environment variable
// PLACEMENT_DESCENTS sets the number of local optima (ci/placement.sh).
#include "mapping/assign.hpp"
#include "mapping/patterns.hpp"
#include "mapping/random.hpp"
#include "mapping/refine.hpp"
#include "mapping/synthetic_machine.hpp"

#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>

namespace zipmpi::mapping {
namespace {

constexpr uint64_t reference_seed = 4711;
// Sanitizer builds are many times slower and do not need the full comparison.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint32_t random_placements = 1000;
constexpr const char* patterns[] = {"cg:16", "halo:5x7", "random:32:4:1"};
#else
constexpr uint32_t random_placements = 100'000;
constexpr const char* patterns[] = {"cg:16",    "cg:64",      "mg:64",  "lu:64",         "halo:8x8",
                                    "halo:5x7", "halo:4x4x4", "all:16", "random:32:4:1", "random:64:6:2"};
#endif

uint32_t descents() {
    const char* text = std::getenv("PLACEMENT_DESCENTS");
    return text != nullptr ? static_cast<uint32_t>(std::atoi(text)) : 50;
}

double best_of_many(const Graph& graph, const Targets& targets) {
    Random random(reference_seed);
    Assignment a = assign_block(graph.size(), targets);
    double best = cost_of(graph, targets, a);
    for (uint32_t i = 0; i < random_placements; ++i) {
        random.shuffle(a);
        best = std::min(best, cost_of(graph, targets, a));
    }
    for (uint32_t i = 0; i < descents(); ++i) {
        random.shuffle(a);
        descend(graph, targets, a, UINT64_MAX);
        best = std::min(best, cost_of(graph, targets, a));
    }
    return best;
}

class Quality : public testing::TestWithParam<const char*> {};

TEST_P(Quality, WithinTwoPercentOfTheBestKnown) {
    const SyntheticMachine m(GetParam());
    if (!m.known) GTEST_SKIP() << "no hwloc";
    for (const char* pattern : patterns) {
        Matrix matrix;
        ASSERT_TRUE(parse_pattern(pattern, matrix));
        const Graph graph = graph_of(matrix);
        const Targets targets = cores_as_targets(m.cores, matrix.ranks, spread_order(m.cores));
        const double reference = best_of_many(graph, targets);
        const double round_robin =
            cost_of(graph, targets, assign_round_robin(matrix.ranks, spread_order(m.cores)));
        for (const GraphTools* tools : {graph_tools(), static_cast<const GraphTools*>(nullptr)}) {
            Effort effort;
            effort.tools = tools;
            const double cost = cost_of(graph, targets, assign_ranks(graph, targets, effort));
            EXPECT_LE(cost, (tools != nullptr ? 1.02 : 1.03) * reference)
                << pattern << ", seed " << reference_seed;
            EXPECT_LE(cost, round_robin) << pattern;
            if (std::getenv("PLACEMENT_DESCENTS") != nullptr)
                std::printf(
                    "%-15s %s: cost %.0f, best of many %.0f (ratio %.4f), round robin %.0f, seed %llu\n",
                    pattern, tools != nullptr ? "with Scotch" : "without    ", cost, reference,
                    cost / reference, round_robin, static_cast<unsigned long long>(reference_seed));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Machines, Quality, testing::Values(eight_cores, sixteen_cores, many_cores));

} // namespace
} // namespace zipmpi::mapping
