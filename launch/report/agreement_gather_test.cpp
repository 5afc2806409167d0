// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/report/agreement_gather.hpp"

#include <gtest/gtest.h>

using namespace zipmpi::launch;

namespace {

// The daemon of a node with ranks 4 and 5; below it are nodes with ranks 6 to 9.
struct Daemon {
    std::vector<JobEvent> events;
    AgreementGather gather{[] { return RankRanges(4, 9); },
                           [this](const JobEvent& e) { events.push_back(e); }};

    void contribute(const RankRanges& ranks, uint32_t flags = ~0U, uint32_t value = 0,
                    const RankRanges& members = {0, 11}) {
        JobEvent e;
        e.kind = JobEvent::Kind::agreement;
        e.ranks = ranks;
        e.members = members;
        e.context = 10;
        e.number = 1;
        e.flags = flags;
        e.value = value;
        gather.process(e);
    }
    void report_failure(const RankRanges& ranks) {
        JobEvent e;
        e.ranks = ranks;
        gather.process(e);
    }
};

TEST(AgreementGather, SendsOneEventForAllBelow) {
    Daemon daemon;
    daemon.contribute({4, 4}, 7, 1);
    daemon.contribute({6, 9}, 6, 9);
    EXPECT_TRUE(daemon.events.empty());
    daemon.contribute({5, 5}, 3, 2);
    ASSERT_EQ(daemon.events.size(), 1U);
    const JobEvent& e = daemon.events[0];
    EXPECT_EQ(e.kind, JobEvent::Kind::agreement);
    EXPECT_EQ(e.ranks.text(), "4-9");
    EXPECT_EQ(e.members.text(), "0-11");
    EXPECT_EQ(e.context, 10U);
    EXPECT_EQ(e.number, 1U);
    EXPECT_EQ(e.flags, 2U);
    EXPECT_EQ(e.value, 9U);
    EXPECT_EQ(daemon.gather.pending(), 0U);
}

TEST(AgreementGather, WaitsForMembersOnly) {
    Daemon daemon;
    daemon.contribute({5, 5}, 1, 0, {0, 5});
    EXPECT_TRUE(daemon.events.empty());
    daemon.contribute({4, 4}, 1, 0, {0, 5});
    EXPECT_EQ(daemon.events.size(), 1U);
}

// A failure goes up before the contributions of the others: mpiexec does not wait for the failed rank.
TEST(AgreementGather, DoesNotWaitForFailedRanks) {
    for (const bool fails_first : {true, false}) {
        Daemon daemon;
        if (fails_first) daemon.report_failure({7, 8});
        daemon.contribute({4, 6});
        daemon.contribute({9, 9});
        if (!fails_first) daemon.report_failure({7, 8});
        ASSERT_EQ(daemon.events.size(), 2U) << fails_first;
        EXPECT_EQ(daemon.events[0].kind, JobEvent::Kind::failed);
        EXPECT_EQ(daemon.events[0].ranks.text(), "7-8");
        EXPECT_EQ(daemon.events[1].ranks.text(), "4-6,9");
    }
}

TEST(AgreementGather, IgnoresAContributionAfterTheFailure) {
    Daemon daemon;
    daemon.report_failure({7, 7});
    daemon.contribute({4, 6});
    daemon.contribute({8, 9});
    daemon.contribute({7, 7}); // its message was read late
    EXPECT_EQ(daemon.events.size(), 2U);
    EXPECT_EQ(daemon.gather.pending(), 0U);
}

TEST(AgreementGather, ForgetsAnAgreementWithItsResult) {
    Daemon daemon;
    daemon.contribute({4, 4});
    EXPECT_EQ(daemon.gather.pending(), 1U);
    daemon.gather.remove(10, 1);
    EXPECT_EQ(daemon.gather.pending(), 0U);
}

TEST(AgreementGather, ForwardsOtherEvents) {
    Daemon daemon;
    JobEvent e;
    for (const JobEvent::Kind kind : {JobEvent::Kind::revoked, JobEvent::Kind::unreachable}) {
        e.kind = kind;
        daemon.gather.process(e);
        EXPECT_EQ(daemon.events.back().kind, kind);
    }
    EXPECT_EQ(daemon.events.size(), 2U);
}

} // namespace
