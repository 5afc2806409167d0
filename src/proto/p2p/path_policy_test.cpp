// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/path_policy.hpp"

#include "hwtopo/node_locality.hpp"

#include <gtest/gtest.h>

namespace zipmpi::proto {
namespace {

// A rank that loses its CPU during a copy would take CMA for slow, and use two copies for the next messages.
TEST(PathPolicy, TimesOfCopiesCountOnlyWhileEachRankHasACpu) {
    segment::NodeSegment segment;
    Diagnostic why;
    ASSERT_TRUE(segment::NodeSegment::make("test", {0, 1}, 2, segment, why)) << format(why);
    NodeTransports node(segment, 0);
    const WaitTuning load(node.shm);
    PathPolicy paths(node, 0, load);
    segment.set_usable_cpus(2);
    EXPECT_NE(paths.cma_heuristic(1), nullptr);
    segment.set_usable_cpus(1);
    EXPECT_EQ(paths.cma_heuristic(1), nullptr);
}

// Two ranks that are awake on two CPUs copy as if the node had no others.
TEST(PathPolicy, SleepingRanksDoNotCountAsSharingCpus) {
    segment::NodeSegment segment;
    Diagnostic why;
    ASSERT_TRUE(segment::NodeSegment::make("test", {0, 1, 2}, 3, segment, why)) << format(why);
    for (uint16_t rank = 0; rank < 3; ++rank)
        hwtopo::set_locality(segment, rank, {0, 0, 0, rank, rank, rank});
    segment.set_usable_cpus(2);
    NodeTransports node(segment, 0);
    const WaitTuning load(node.shm);
    PathPolicy paths(node, 0, load);
    const Thresholds* const shared = &paths.thresholds(1);
    EXPECT_EQ(shared, &paths.thresholds(2));
    EXPECT_FALSE(shared->should_coop_copy(1 << 20, {}));
    segment.asleep().store(1);
    EXPECT_TRUE(paths.thresholds(1).should_coop_copy(1 << 20, {}));
    segment.asleep().store(0);
    EXPECT_EQ(&paths.thresholds(1), shared);
}

} // namespace
} // namespace zipmpi::proto
