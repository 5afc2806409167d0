// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/host_placement.hpp"

#include <gtest/gtest.h>

using namespace zipmpi;
using namespace zipmpi::launch;

namespace {

TEST(HostPlacement, RankFileIsNotDivided) {
    StartRequest request;
    request.world_size = 2;
    request.map = NodeMap({{0, 1}, {1, 1}});
    request.apps.resize(1);
    request.apps[0].ranks = 2;
    request.placement.strategy = MapStrategy::rank_file;
    request.placement.rank_file = {{0, "a", "0"}, {1, "b", "0"}};
    HostPlacement placement;
    Diagnostic why;
    placement.begin(request, 1);
    ASSERT_TRUE(placement.choose(why)) << why.why;
    ASSERT_EQ(placement.rank_cpus().size(), 1U);
    const CpuList before = placement.rank_cpus()[0].cpus;
    EXPECT_FALSE(before.empty());
    ASSERT_TRUE(placement.choose_share({1, 2}, why)) << why.why; // two nodes on one machine
    ASSERT_EQ(placement.rank_cpus().size(), 1U);
    EXPECT_EQ(placement.rank_cpus()[0].cpus, before);
}

} // namespace
