// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Curves, the sizes that follow from them, files of costs, and two ranks that find their class.
#include "proto/select/cost.hpp"
#include "proto/select/costs_file.hpp"
#include "proto/select/pair_choice.hpp"
#include "proto/select/source_sense.hpp"

#include "base/param.hpp"
#include "topo/node_places.hpp"
#include "wire/envelope.hpp"

#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace zipmpi;
using namespace zipmpi::proto;

namespace {

constexpr Curve flat(uint64_t start_ns, uint64_t ps) { return {start_ns, ps, ps, 1 * MiB}; }
constexpr PathCost both(Curve c) { return {c, c}; }

// The kernel wins from 10000 bytes on, asking from 14000.
constexpr PairCosts simple{.line_ns = 100,
                           .more_line_ns = 50,
                           .cell = both(flat(200, 180)),
                           .fragments = both(flat(1000, 100)),
                           .kernel = both(flat(1500, 50)),
                           .direct = both(flat(1100, 50)),
                           .fragment_bytes = 16 * KiB,
                           .window_bytes = 20 * KiB};
constexpr uint64_t cell = 32 * KiB - 64;

TEST(Cost, ACurveBends) {
    constexpr Curve c{500, 100, 300, 1000};
    EXPECT_DOUBLE_EQ(nanoseconds(c, 0), 500);
    EXPECT_DOUBLE_EQ(nanoseconds(c, 1000), 600);
    EXPECT_DOUBLE_EQ(nanoseconds(c, 2000), 900);
}

TEST(Cost, ThresholdsLieWhereCurvesCross) {
    const Thresholds t = thresholds_from(simple, cell);
    EXPECT_NEAR(static_cast<double>(t.kcopy_min), 10000, 2000);
    EXPECT_EQ(t.kcopy_max, UINT64_MAX);
    EXPECT_NEAR(static_cast<double>(t.eager_limit), 10000, 2000);
    EXPECT_NEAR(static_cast<double>(t.direct_min), 10000, 2000) << "asking has its price";
    EXPECT_EQ(t.fragment_bytes, 16U * KiB);
    EXPECT_EQ(t.window_bytes, 32U * KiB) << "two fragments at least";
    EXPECT_EQ(t.instead_of_kcopy.start_ns, 900U);
}

TEST(Cost, APathThatNeverWinsIsNeverTaken) {
    PairCosts slow_kernel = simple;
    slow_kernel.kernel = slow_kernel.direct = both(flat(5000, 200));
    slow_kernel.cell = both(flat(200, 100));
    const Thresholds t = thresholds_from(slow_kernel, cell);
    EXPECT_EQ(t.kcopy_min, UINT64_MAX);
    EXPECT_EQ(t.direct_min, UINT64_MAX);
    EXPECT_EQ(t.eager_limit, cell);
    EXPECT_EQ(path_by(t, 8 * MiB, {cell, true, true}), Path::fragments);
    PairCosts fast_kernel = simple;
    fast_kernel.kernel = both(flat(100, 1));
    const Thresholds f = thresholds_from(fast_kernel, cell);
    EXPECT_EQ(f.eager_limit, 2047U) << "shorter ones leave at once all the same";
}

TEST(Cost, AKernelThatWinsInTheMiddleIsUsedThere) {
    PairCosts c = simple;
    c.kernel = both({1500, 50, 200, 256 * KiB});
    const Thresholds t = thresholds_from(c, cell);
    EXPECT_NEAR(static_cast<double>(t.kcopy_min), 10000, 2000);
    EXPECT_NEAR(static_cast<double>(t.kcopy_max), 390000, 80000);
    EXPECT_EQ(path_by(t, 64 * KiB, {cell, true, false}), Path::kernel);
    EXPECT_EQ(path_by(t, 4 * MiB, {cell, true, false}), Path::fragments);
}

TEST(Cost, ThePathByThresholdsIsNearlyTheCheapest) {
    const Thresholds t = thresholds_from(simple, cell);
    for (uint64_t bytes = 4096; bytes < 8 * MiB; bytes += bytes / 3)
        for (const bool shared : {false, true})
            for (const bool kernel : {false, true}) {
                const Situation s{cell, kernel, shared, false};
                const Choice best = cheapest(simple, bytes, s);
                EXPECT_LE(predicted_ns(simple, path_by(t, bytes, s), bytes, false), 1.4 * best.ns) << bytes;
            }
    EXPECT_EQ(path_by(t, 40, {cell, true, true}), Path::line);
    EXPECT_EQ(path_by(t, 41, {cell, true, true}), Path::lines);
    EXPECT_EQ(path_by(t, 1 * MiB, {cell, true, true}), Path::direct);
    EXPECT_EQ(path_by(t, 1 * MiB, {cell, true, false}), Path::kernel);
    EXPECT_EQ(path_by(t, 1 * MiB, {cell, false, false}), Path::fragments);
}

TEST(Cost, TheTableOfBuiltInThresholdsIsCurrent) {
    for (size_t i = 0; i < topo::pair_classes; ++i) {
        const auto pair = static_cast<PairClass>(i);
        const Thresholds t = thresholds_from(built_in_costs(pair), assumed_cell_bytes);
        const Curve& c = t.instead_of_kcopy;
        EXPECT_EQ(thresholds_for(pair), t)
            << "write for " << topo::name(pair) << ": {" << t.eager_limit << ", " << t.kcopy_min << ", "
            << t.kcopy_max << ", " << t.fragment_bytes << ", " << t.window_bytes << ", " << t.direct_min
            << ", {" << c.start_ns << ", " << c.cached_ps << ", " << c.beyond_ps << ", " << c.cached_bytes
            << "}},";
    }
}

TEST(Cost, EveryConstantHasAName) {
    PairCosts c = simple;
    size_t count = 0;
    each_constant(c, [&](const char*, uint64_t&) { ++count; });
    EXPECT_EQ(count * sizeof(uint64_t), sizeof(PairCosts));
}

TEST(SourceSense, LeavesTheKernelAloneWhileItIsSlow) {
    const Thresholds t = thresholds_from(simple, cell);
    const uint64_t bytes = 64 * KiB;
    const auto fast = static_cast<uint64_t>(nanoseconds(t.instead_of_kcopy, bytes)) - 100;
    SourceSense sense;
    int copies = 0;
    for (int i = 0; i < 1000; ++i)
        if (sense.try_kernel()) {
            ++copies;
            sense.took(t, bytes, 2 * fast);
        }
    EXPECT_LE(copies, 22) << "one in 64 at last";
    while (!sense.try_kernel()) {
    }
    sense.took(t, bytes, fast); // the sender has stopped to write its buffer
    for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE(sense.try_kernel());
        sense.took(t, bytes, fast);
    }
    sense.took(t, bytes, 2 * fast); // a single disturbance costs one message
    EXPECT_FALSE(sense.try_kernel());
    EXPECT_TRUE(sense.try_kernel());
}

class CostsFile : public testing::Test {
  protected:
    void write(const char* text) { std::ofstream(path_) << text; }
    void TearDown() override { unlink(path_.c_str()); }
    std::string path_ = "/tmp/zipmpi_costs_test." + std::to_string(getpid());
};

TEST_F(CostsFile, ReplacesWhatItNames) {
    write("# measured\nshared_l3.line_ns = 77\n\nother_numa.kernel.kept.cached_bytes=4096\n");
    NodeCosts costs;
    ASSERT_TRUE(load_costs_from(path_, costs));
    EXPECT_TRUE(costs.faults.empty());
    EXPECT_EQ(costs.pair[2].line_ns, 77U);
    EXPECT_EQ(costs.pair[4].kernel.kept.cached_bytes, 4096U);
    EXPECT_EQ(costs.pair[2].kernel, built_in_costs(PairClass::shared_l3).kernel);
    EXPECT_TRUE(costs.measured[2]);
    EXPECT_FALSE(costs.measured[0]);
}

TEST_F(CostsFile, WhatMakesNoSenseIsNamedAndNotUsed) {
    write(
        "shared_l3.line_ns = -4\nshared_l3.line_ns = 12x\nshared_l9.line_ns = 1\nshared_l3.speed = 1\nhello\n"
        "shared_l3.more_line_ns = 9999999999999999999999\nshared_l3.more_line_ns = 99999999999999\n");
    NodeCosts costs;
    ASSERT_TRUE(load_costs_from(path_, costs));
    EXPECT_EQ(costs.faults.size(), 7U);
    EXPECT_EQ(costs.pair[2], built_in_costs(PairClass::shared_l3));
    EXPECT_FALSE(costs.measured[2]);
}

TEST(CostsFileAbsent, IsAnErrorOnlyIfNamed) {
    NodeCosts costs;
    EXPECT_FALSE(load_costs_from("/nonexistent/tune.toml", costs));
    EXPECT_TRUE(costs.file.empty());
}

TEST(PairChoice, FollowsThePlacesInTheSegment) {
    const char* env[] = {"ZIPMPI_TUNE_FILE=none", nullptr};
    ASSERT_TRUE(load_params(env).empty());
    boot::NodeSegment segment;
    Problem why;
    ASSERT_TRUE(boot::NodeSegment::make("test", {0, 1, 2}, 3, segment, why)) << why.why;
    topo::set_place(segment, 0, {0, 0, 0, 0, 0, 0});
    topo::set_place(segment, 1, {0, 0, 0, 1, 1, 1});
    topo::set_place(segment, 2, {1, 1, 1, 2, 2, 2});
    PairChoice choice(segment, 0);
    const auto wanted = [&](PairClass pair) {
        return settled(thresholds_for(pair), segment.geometry().cell_bytes);
    };
    EXPECT_EQ(choice.with(1), wanted(PairClass::shared_l3));
    EXPECT_EQ(choice.with(2), wanted(PairClass::other_numa));
    EXPECT_EQ(choice.taking_turns(), wanted(PairClass::same_core));
    EXPECT_EQ(segment.facts().places.load(), wire::fact_absent) << "nobody had to look";
    // Another rank takes what this one has left for it.
    segment.facts().threshold[2][0] = 5000;
    PairChoice second(segment, 1);
    EXPECT_EQ(second.with(0).eager_limit, 5000U);
}

TEST(PairChoice, BuiltInOnesServeWhileAnotherRankIsAtIt) {
    boot::NodeSegment segment;
    Problem why;
    ASSERT_TRUE(boot::NodeSegment::make("test", {0, 1}, 2, segment, why)) << why.why;
    topo::set_place(segment, 0, {0, 0, 0, 0, 0, 0});
    topo::set_place(segment, 1, {1, 1, 1, 1, 1, 1});
    segment.facts().thresholds.store(wire::fact_in_work);
    PairChoice choice(segment, 0);
    EXPECT_EQ(choice.with(1), settled(thresholds_for(topo::assumed_class), segment.geometry().cell_bytes));
    segment.facts().thresholds.store(wire::fact_absent);
    EXPECT_EQ(choice.with(1), settled(thresholds_for(PairClass::other_numa), segment.geometry().cell_bytes));
}

} // namespace
