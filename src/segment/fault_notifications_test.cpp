// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Fault notifications, results of agreements and information about the node: from writer to reader.
#include "segment/node_segment.hpp"

#include <gtest/gtest.h>

namespace zipmpi::segment {
namespace {

NodeSegment three_ranks() {
    NodeSegment segment;
    Diagnostic why;
    EXPECT_TRUE(NodeSegment::make("test", {0, 1, 2}, 3, segment, why)) << format(why);
    return segment;
}

TEST(FaultNotifications, ReadersSeeFailuresAndRevocations) {
    const NodeSegment segment = three_ranks();
    const FaultNotifications faults = segment.faults();
    const uint32_t before = faults.state().generation;
    faults.publish_failed(2);
    faults.notify();
    faults.publish_revoked(7);
    faults.notify();
    EXPECT_EQ(faults.state().generation, before + 2);
    ASSERT_EQ(faults.state().failed, 1U);
    ASSERT_EQ(faults.state().revoked, 1U);
    EXPECT_EQ(faults.failed_rank(0), 2);
    EXPECT_EQ(faults.revoked_context(0), 7U);
    EXPECT_EQ(segment.block(2).state, static_cast<uint32_t>(wire::RankState::failed));
}

TEST(FaultNotifications, FailedRankIsNotAsleep) {
    const NodeSegment segment = three_ranks();
    segment.asleep() = 2;
    segment.block(1).futex_sleepers = 1;
    segment.faults().publish_failed(1);
    segment.faults().notify();
    EXPECT_EQ(segment.asleep(), 1U);
}

// Each notification wakes all ranks of the node: one for each of its ranks would take ranks^2 wakeups.
TEST(FaultNotifications, SeveralResultsTakeOneNotification) {
    const NodeSegment segment = three_ranks();
    const uint32_t before = segment.faults().state().generation;
    for (uint32_t local = 0; local < 3; ++local)
        EXPECT_TRUE(segment.agreements().publish(local, {5, 1, 0, 40, 0}));
    for (const int rank : {0, 2}) segment.faults().publish_failed(rank);
    EXPECT_EQ(segment.faults().state().failed, 2U);
    EXPECT_EQ(segment.faults().state().generation, before);
    segment.faults().notify();
    EXPECT_EQ(segment.faults().state().generation, before + 1);
}

TEST(AgreementResults, OverflowIsReportedOnce) {
    const NodeSegment segment = three_ranks();
    const AgreementResults results = segment.agreements();
    uint32_t published = 0;
    while (results.publish(1, {5, published, 0, 40 + published, 0})) ++published;
    EXPECT_GT(published, 0U);
    AgreementResult taken;
    for (uint32_t i = 0; i < published; ++i) {
        ASSERT_TRUE(results.take(1, taken));
        EXPECT_EQ(taken.number, i);
        EXPECT_EQ(taken.value, 40 + i);
    }
    EXPECT_FALSE(results.take(1, taken));
    EXPECT_FALSE(results.take(0, taken));
    EXPECT_TRUE(results.take_overflow(1));
    EXPECT_FALSE(results.take_overflow(1));
}

TEST(NodeInformation, NotificationWakesOnlyIfAwaited) {
    const NodeSegment segment = three_ranks();
    segment.node_info().notify();
    EXPECT_EQ(segment.block(0).wake, 0U);
    segment.node_info().await();
    segment.node_info().notify();
    EXPECT_EQ(segment.block(0).wake, 1U);
    segment.node_info().notify();
    EXPECT_EQ(segment.block(0).wake, 1U);
}

} // namespace
} // namespace zipmpi::segment
