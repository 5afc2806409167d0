// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tune/fit.hpp"
#include "tune/measure.hpp"
#include "tune/pair_bench.hpp"
#include "tune/resume.hpp"
#include "tune/tune.hpp"

#include "hwtopo/topology_module.hpp"
#include "os/host.hpp"
#include "proto/select/costs_file.hpp"

#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace zipmpi;
using namespace zipmpi::tool;

namespace {

TEST(Fit, FindsBreakpoint) {
    constexpr proto::Curve wanted{500, 60, 150, 256 << 10};
    std::vector<Point> points;
    for (uint64_t bytes = 4096; bytes <= 16 << 20; bytes *= 4)
        points.push_back({bytes, proto::nanoseconds(wanted, bytes)});
    const proto::Curve found = fit(points);
    EXPECT_LT(misfit(found, points), 0.02);
    EXPECT_EQ(found.cached_bytes, wanted.cached_bytes);
    EXPECT_NEAR(static_cast<double>(found.start_ns), 500, 5);
}

TEST(Fit, CostsAreNeverNegative) {
    for (const double last : {10.0, 100.0, 5000.0}) {
        const std::vector<Point> points{{512, 900}, {1024, 400}, {2048, 300}, {4096, last}};
        const proto::Curve c = fit(points);
        for (uint64_t bytes = 0; bytes < 1 << 20; bytes += 997) EXPECT_GE(proto::nanoseconds(c, bytes), 0);
        EXPECT_LT(c.start_ns, 10000U);
        EXPECT_LT(c.beyond_ps, 10000U);
    }
}

TEST(SampleStats, MedianAndSpread) {
    EXPECT_DOUBLE_EQ(stats_of({3, 1, 2, 100, 2}).median, 2);
    EXPECT_LT(stats_of({10, 10, 10, 11, 9}).spread, 0.1);
    EXPECT_EQ(stats_of({}).median, 0);
}

TEST(PairsToMeasure, OnePerClass) {
    hwtopo::Machine m;
    const bool is_read =
        hwtopo::read_machine(m, "package:2 [numa] l3:2(size=8MiB) l2:2(size=1MiB) core:2 pu:1");
#ifndef ZIPMPI_HAS_HWLOC
    if (!is_read) GTEST_SKIP() << "no hwloc";
#endif
    ASSERT_TRUE(is_read);
    std::vector<int> all;
    for (const auto& c : m.cpus) all.push_back(c.cpu);
    const auto pairs = pairs_to_measure(m, all);
    ASSERT_EQ(pairs.size(), hwtopo::pair_classes);
    for (size_t i = 0; i < pairs.size(); ++i) EXPECT_EQ(pairs[i].pair, static_cast<hwtopo::PairClass>(i));
    EXPECT_EQ(pairs_to_measure(m, {3}).size(), 1U);
    EXPECT_TRUE(pairs_to_measure(m, {}).empty());
}

TEST(PairsToMeasure, UnknownTopologyGivesTheAssumedClass) {
    EXPECT_EQ(pairs_to_measure({}, {0, 1}).back().pair, hwtopo::assumed_class);
}

TEST(Texts, FileRoundTrip) {
    Measurement m;
    m.where = {hwtopo::PairClass::same_numa, 0, 9};
    m.costs = proto::built_in_costs(hwtopo::PairClass::other_numa);
    m.costs.cma.reused.cached_bytes = 12345;
    m.rounds = 5;
    const std::string path = "/tmp/zipmpi_tune_test." + std::to_string(getpid());
    std::ofstream(path) << costs_file_text({m}, "here");
    proto::NodeCosts costs;
    ASSERT_TRUE(load_costs_from(path, costs));
    unlink(path.c_str());
    EXPECT_TRUE(costs.faults.empty()) << costs.faults.front();
    EXPECT_EQ(costs.pair[3], m.costs);
    EXPECT_TRUE(costs.measured[3]);
    EXPECT_NE(changes_text({m}, 32704).find("same_numa (CPUs 0 and 9)"), std::string::npos);
}

TEST(Resume, ReusesInterruptedRun) {
    const std::string file = testing::TempDir() + "zipmpi_tune_" + std::to_string(getpid()) + ".part";
    Measurement m;
    m.where = {hwtopo::PairClass::shared_l3, 2, 5};
    m.costs = proto::built_in_costs(m.where.pair);
    m.costs.inline_ns = 123;
    m.detail = "# points\n";
    {
        ResumeFile first(file, true);
        EXPECT_EQ(first.resumed(), 0U);
        first.add(m);
        std::ofstream(file, std::ios::app) << "{\"pair\": 1, \"fir"; // the run was killed while writing
    }
    ResumeFile second(file, true);
    ASSERT_EQ(second.resumed(), 1U);
    ASSERT_NE(second.find(m.where), nullptr);
    EXPECT_EQ(to_line(*second.find(m.where)), to_line(m));
    EXPECT_EQ(second.find({hwtopo::PairClass::shared_l3, 2, 6}), nullptr);
    EXPECT_EQ(ResumeFile(file, false).resumed(), 0U);
    EXPECT_NE(access(file.c_str(), F_OK), 0);
}

// Every path between two real processes, on one CPU and, if available, on two.
TEST(Measure, EveryPathTakesTime) {
    os::CpuUnion own;
    own.add(0);
    const std::vector<int> cpus = own.list();
    for (const int second : {cpus.front(), cpus.back()}) {
        PairBench pair(cpus.front(), second);
        for (const auto path : {proto::MessagePath::inline_, proto::MessagePath::multislot,
                                proto::MessagePath::cell, proto::MessagePath::pipeline,
                                proto::MessagePath::cma, proto::MessagePath::arena, proto::MessagePath::coop})
            for (const bool fresh : {true, false})
                for (const uint64_t bytes : {uint64_t{20000}, uint64_t{300000}}) {
                    if (path < proto::MessagePath::pipeline && bytes > 20000) continue;
                    if ((path == proto::MessagePath::cma || path == proto::MessagePath::coop) &&
                        !pair.cma_works())
                        continue;
                    EXPECT_GT(pair.time({path, bytes, fresh, 8192, 16384}, 3), 0) << name(path);
                }
    }
    os::CpuUnion after;
    after.add(0);
    EXPECT_EQ(after.list(), cpus) << "the affinity is restored";
}

} // namespace
