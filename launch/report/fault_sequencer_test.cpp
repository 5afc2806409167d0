// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/report/fault_sequencer.hpp"

#include <gtest/gtest.h>

using namespace zipmpi::launch;

namespace {

struct Job {
    std::vector<JobEvent> events;
    FaultSequencer sequencer{8, [this](const JobEvent& e) { events.push_back(e); }};

    void report_failure(uint32_t rank) {
        JobEvent e;
        e.ranks.add(rank);
        sequencer.process(e);
    }
    void contribute(uint32_t rank, uint32_t flags, uint32_t value = 0) {
        JobEvent e;
        e.kind = JobEvent::Kind::agreement;
        e.ranks.add(rank);
        e.members = {0, 3};
        e.context = 10;
        e.number = 1;
        e.flags = flags;
        e.value = value;
        sequencer.process(e);
    }
};

TEST(FaultSequencer, CompletesWhenAllHaveContributed) {
    Job job;
    job.contribute(0, 7, 1);
    job.contribute(1, 6, 9);
    job.contribute(3, 7, 2);
    EXPECT_TRUE(job.events.empty());
    job.contribute(2, 3, 0);
    ASSERT_EQ(job.events.size(), 1U);
    EXPECT_EQ(job.events[0].flags, 2U);
    EXPECT_EQ(job.events[0].value, 9U);
    EXPECT_EQ(job.events[0].failed, 0U);
}

// For every order of a failure and the contributions, the result has the failure or the contribution.
TEST(FaultSequencer, DoesNotWaitForFailedRanks) {
    for (int when = 0; when < 4; ++when) {
        Job job;
        int step = 0;
        for (const uint32_t rank : {0U, 1U, 3U}) {
            if (step++ == when) job.report_failure(2);
            job.contribute(rank, 5);
        }
        if (when == 3) job.report_failure(2);
        ASSERT_EQ(job.events.size(), 2U) << when;
        EXPECT_EQ(job.events[0].kind, JobEvent::Kind::failed);
        EXPECT_EQ(job.events[1].kind, JobEvent::Kind::agreement);
        EXPECT_EQ(job.events[1].failed, 1U);
        EXPECT_EQ(job.events[1].flags, 5U);
    }
}

TEST(FaultSequencer, AnnouncesFailuresTogether) {
    Job job;
    for (const uint32_t rank : {2U, 5U, 3U}) job.report_failure(rank);
    EXPECT_TRUE(job.events.empty());
    job.sequencer.announce_failures();
    job.sequencer.announce_failures();
    ASSERT_EQ(job.events.size(), 1U);
    EXPECT_EQ(job.events[0].kind, JobEvent::Kind::failed);
    EXPECT_EQ(job.events[0].ranks.text(), "2-3,5");
}

// One event has the contributions of all ranks of a daemon and of those below.
TEST(FaultSequencer, ContributionsMayBeCombined) {
    Job job;
    JobEvent e;
    e.kind = JobEvent::Kind::agreement;
    e.members = {0, 3};
    e.ranks = {1, 3};
    e.flags = 6;
    job.sequencer.process(e);
    EXPECT_TRUE(job.events.empty());
    e.ranks = {0, 0};
    e.flags = 3;
    job.sequencer.process(e);
    ASSERT_EQ(job.events.size(), 1U);
    EXPECT_EQ(job.events[0].flags, 2U);
}

TEST(FaultSequencer, IgnoresRanksOutsideTheJob) {
    Job job;
    JobEvent e;
    e.ranks = {7, 8};
    job.sequencer.process(e);
    EXPECT_EQ(job.sequencer.failures(), 0U);
    e.kind = JobEvent::Kind::agreement;
    for (const RankRanges& members : {RankRanges(), RankRanges(0, 8)}) {
        e.members = members;
        job.sequencer.process(e);
    }
    EXPECT_TRUE(job.events.empty());
}

TEST(FaultSequencer, ReportsFailuresAndRevocationsOnce) {
    Job job;
    JobEvent revoke;
    revoke.kind = JobEvent::Kind::revoked;
    revoke.context = 12;
    for (int i = 0; i < 3; ++i) {
        job.report_failure(5);
        job.sequencer.process(revoke);
    }
    job.report_failure(99); // no such rank
    EXPECT_EQ(job.events.size(), 2U);
    EXPECT_EQ(job.sequencer.failures(), 1U);
}

TEST(FaultSequencer, OneOfTwoUnreachableRanksSurvives) {
    Job job;
    const auto report_unreachable = [&](uint32_t rank, uint32_t other) {
        JobEvent e;
        e.kind = JobEvent::Kind::unreachable;
        e.rank = other;
        e.value = rank;
        job.sequencer.process(e);
    };
    report_unreachable(1, 2);
    report_unreachable(2, 1);
    report_unreachable(3, 2);
    ASSERT_EQ(job.events.size(), 1U);
    EXPECT_EQ(job.events[0].rank, 2U);
}

TEST(FaultSequencer, StartsNewAgreementAfterResult) {
    Job job;
    for (int i = 0; i < 2; ++i)
        for (uint32_t rank = 0; rank < 4; ++rank) job.contribute(rank, rank == 1 && i == 0 ? 0 : 1);
    ASSERT_EQ(job.events.size(), 2U);
    EXPECT_EQ(job.events[0].flags, 0U);
    EXPECT_EQ(job.events[1].flags, 1U);
}

} // namespace
