// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/rank_processes.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

using namespace zipmpi;
using namespace zipmpi::launch;

namespace {

constexpr int exited_3 = 3 << 8, killed_9 = 9; // wait statuses

struct TwoRanks {
    TwoRanks()
        : job({0, 1}, nullptr) {
        StartRequest request;
        request.job_id = "zipmpi-test";
        request.world_size = 2;
        request.map = NodeMap({{0, 2}});
        request.apps.resize(1);
        request.apps[0].ranks = 2;
        request.apps[0].argv = {"program"};
        Diagnostic why;
        EXPECT_TRUE(job.read(encode(request)));
        EXPECT_TRUE(job.make_segment(why)) << why.why;
        ranks.begin(job);
    }
    NodeJob job;
    RankProcesses ranks;
};

TEST(RankProcesses, FollowsARankFromStartToExit) {
    TwoRanks t;
    ASSERT_EQ(t.ranks.size(), 2U);
    EXPECT_EQ(t.ranks.find(1), std::optional<uint32_t>(1));
    EXPECT_FALSE(t.ranks.find(2));
    t.ranks.on_started(0, 100);
    t.ranks.on_started(1, 101);
    EXPECT_EQ(t.ranks.live(), 2U);
    EXPECT_FALSE(t.ranks.take_pid(99));
    ASSERT_EQ(t.ranks.take_pid(101), std::optional<uint32_t>(1));
    EXPECT_FALSE(t.ranks.take_pid(101)); // reaped once
    t.ranks.on_exited(1, killed_9);
    EXPECT_EQ(t.ranks.live(), 1U);
    t.ranks.on_exited(0, exited_3);
    EXPECT_EQ(t.ranks.exit_codes(), (std::vector<uint32_t>{3, 128 + 9}));
    const Snapshot s = t.ranks.snapshot(t.job.segment());
    ASSERT_EQ(s.size(), 2U);
    EXPECT_EQ(s[0].phase, RankPhase::exited);
}

TEST(RankProcesses, ForgetsSpawnedJobsThatHaveEnded) {
    RankProcesses ranks;
    EXPECT_FALSE(ranks.has_spawned_jobs());
    ranks.add_spawned_job(getpid());
    EXPECT_TRUE(ranks.has_spawned_jobs());
    ranks.remove_spawned_job(getpid());
    EXPECT_FALSE(ranks.has_spawned_jobs());
    EXPECT_EQ(ranks.world_rank(0), 0U);
}

} // namespace
