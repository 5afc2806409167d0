// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/path_policy.hpp"

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

} // namespace
} // namespace zipmpi::proto
