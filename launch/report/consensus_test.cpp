// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/report/consensus.hpp"

#include <gtest/gtest.h>

using namespace zipmpi::launch;

namespace {

struct Job {
    std::vector<Event> news;
    Consensus consensus{8, [this](const Event& e) { news.push_back(e); }};

    void fails(uint32_t rank) {
        Event e;
        e.rank = rank;
        consensus.take(e);
    }
    void says(uint32_t rank, uint32_t flags, uint32_t value = 0, const char* members = "0-3") {
        Event e;
        e.kind = Event::Kind::agreement;
        e.rank = rank;
        e.context = 10;
        e.number = 1;
        e.flags = flags;
        e.value = value;
        e.members = members;
        consensus.take(e);
    }
};

TEST(Consensus, ReadsRanks) {
    std::set<uint32_t> ranks;
    EXPECT_TRUE(parse_ranks("0-2,5,7-7", 8, ranks));
    EXPECT_EQ(ranks, (std::set<uint32_t>{0, 1, 2, 5, 7}));
    for (const char* bad : {"", "3-1", "8", "1,", "x", "1-", "-1", "0-7 "}) {
        std::set<uint32_t> none;
        EXPECT_FALSE(parse_ranks(bad, 8, none)) << bad;
    }
}

TEST(Consensus, DecidesWhenAllHaveSpoken) {
    Job job;
    job.says(0, 7, 1);
    job.says(1, 6, 9);
    job.says(3, 7, 2);
    EXPECT_TRUE(job.news.empty());
    job.says(2, 3, 0);
    ASSERT_EQ(job.news.size(), 1U);
    EXPECT_EQ(job.news[0].flags, 2U);
    EXPECT_EQ(job.news[0].value, 9U);
    EXPECT_EQ(job.news[0].failed, 0U);
}

// Whatever the order of a failure and of what others say, the decision names the failure or counts the voice.
TEST(Consensus, DoesNotWaitForTheDead) {
    for (int when = 0; when < 4; ++when) {
        Job job;
        int step = 0;
        for (const uint32_t rank : {0U, 1U, 3U}) {
            if (step++ == when) job.fails(2);
            job.says(rank, 5);
        }
        if (when == 3) job.fails(2);
        ASSERT_EQ(job.news.size(), 2U) << when;
        EXPECT_EQ(job.news[0].kind, Event::Kind::failed);
        EXPECT_EQ(job.news[1].kind, Event::Kind::agreement);
        EXPECT_EQ(job.news[1].failed, 1U);
        EXPECT_EQ(job.news[1].flags, 5U);
    }
}

TEST(Consensus, TellsFailuresAndRevocationsOnce) {
    Job job;
    Event revoke;
    revoke.kind = Event::Kind::revoked;
    revoke.context = 12;
    for (int i = 0; i < 3; ++i) {
        job.fails(5);
        job.consensus.take(revoke);
    }
    job.fails(99); // no such rank
    EXPECT_EQ(job.news.size(), 2U);
    EXPECT_EQ(job.consensus.failures(), 1U);
}

TEST(Consensus, OneOfTwoThatHaveLostEachOtherStays) {
    Job job;
    const auto loses = [&](uint32_t rank, uint32_t other) {
        Event e;
        e.kind = Event::Kind::lost;
        e.rank = other;
        e.value = rank;
        job.consensus.take(e);
    };
    loses(1, 2);
    loses(2, 1);
    loses(3, 2);
    ASSERT_EQ(job.news.size(), 1U);
    EXPECT_EQ(job.news[0].rank, 2U);
}

TEST(Consensus, BeginsAnewAfterADecision) {
    Job job;
    for (int i = 0; i < 2; ++i)
        for (uint32_t rank = 0; rank < 4; ++rank) job.says(rank, rank == 1 && i == 0 ? 0 : 1);
    ASSERT_EQ(job.news.size(), 2U);
    EXPECT_EQ(job.news[0].flags, 0U);
    EXPECT_EQ(job.news[1].flags, 1U);
}

} // namespace
