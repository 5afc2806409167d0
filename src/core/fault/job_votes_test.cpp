// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/fault/job_votes.hpp"

#include <gtest/gtest.h>

namespace zipmpi::core {
namespace {

const std::vector<std::vector<int>> three_jobs{{0, 1}, {2, 3, 4}, {5, 6, 7, 8}};

TEST(JobVotes, CombinesAllVotes) {
    JobVotes votes(three_jobs, 9);
    votes.set_vote(0, {0b110, 5});
    votes.set_vote(1, {0b011, 9});
    votes.set_vote(2, {0b111, 2});
    const Vote result = votes.conclude();
    EXPECT_EQ(result.flags, 0b010U);
    EXPECT_EQ(result.value, 9U);
    EXPECT_EQ(std::ranges::count(votes.failed(), true), 0);
}

TEST(JobVotes, MembersOfSilentJobFail) {
    JobVotes votes(three_jobs, 9);
    votes.set_vote(0, {});
    votes.set_vote(2, {});
    static_cast<void>(votes.conclude());
    EXPECT_EQ(votes.failed(),
              (std::vector<bool>{false, false, true, true, true, false, false, false, false}));
}

TEST(JobVotes, MessageHasTwelveBytesPerJobAndOneBitPerMember) {
    EXPECT_EQ(JobVotes(three_jobs, 9).pack().size(), 3 * 12U + 2);
}

TEST(JobVotes, MessageAddsUnknownVotesOnly) {
    JobVotes sender(three_jobs, 9);
    sender.set_vote(0, {0, 77});
    sender.set_failed(0);
    sender.set_vote(2, {~0U, 3});
    sender.set_failed(8);
    JobVotes receiver(three_jobs, 9);
    receiver.set_vote(0, {~0U, 1});
    receiver.add(sender.pack());
    receiver.set_vote(1, {});
    const Vote result = receiver.conclude();
    EXPECT_EQ(result.flags, ~0U); // job 0 keeps its known vote
    EXPECT_EQ(result.value, 3U);
    EXPECT_FALSE(receiver.failed()[0]);
    EXPECT_TRUE(receiver.failed()[8]);
}

TEST(JobVotes, VotesPassThroughAnotherJob) {
    JobVotes first(three_jobs, 9);
    JobVotes second(three_jobs, 9);
    JobVotes third(three_jobs, 9);
    first.set_vote(0, {~0U, 4});
    second.add(first.pack());
    third.add(second.pack());
    EXPECT_EQ(third.conclude().value, 4U);
}

TEST(JobVotes, ClearForgetsVotesAndFailures) {
    JobVotes votes(three_jobs, 9);
    for (size_t job = 0; job < three_jobs.size(); ++job) votes.set_vote(job, {0, 1});
    votes.set_failed(3);
    votes.clear();
    EXPECT_EQ(std::ranges::count(votes.failed(), true), 0);
    EXPECT_EQ(votes.conclude().value, 0U);
    EXPECT_EQ(std::ranges::count(votes.failed(), true), 9);
}

} // namespace
} // namespace zipmpi::core
