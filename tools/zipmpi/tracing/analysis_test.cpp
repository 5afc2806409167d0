// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tracing/analysis.hpp"

#include <gtest/gtest.h>

namespace zipmpi::tool {
namespace {

using wire::TraceKind;

constexpr uint16_t some = 1;

TraceEvent event(TraceKind kind, int64_t start, int64_t end, int32_t peer, int32_t tag = 0,
                 uint32_t comm = 1) {
    return {start, end, 8, comm, peer, tag, some, kind};
}

Trace trace_of(std::vector<std::vector<TraceEvent>> events, int64_t end) {
    Trace t;
    for (uint32_t i = 0; i < events.size(); ++i)
        t.ranks.push_back({i, 0, "host", true, 0, 0, 0, end, std::move(events[i])});
    t.world_size = static_cast<uint32_t>(events.size());
    t.duration = end;
    return t;
}

TEST(TraceAnalysis, ReceiverWaitsForALateSender) {
    const Trace t =
        trace_of({{event(TraceKind::send, 70, 80, 1)}, {event(TraceKind::receive, 10, 90, 0)}}, 100);
    const TraceAnalysis a = analyze(t);
    ASSERT_EQ(a.messages.size(), 1U);
    EXPECT_EQ(a.messages[0].late_sender(), 60);
    EXPECT_EQ(a.messages[0].late_receiver(), 0);
    EXPECT_EQ(a.unmatched, 0U);
}

TEST(TraceAnalysis, SenderWaitsForALateReceiver) {
    const Trace t =
        trace_of({{event(TraceKind::send, 10, 90, 1)}, {event(TraceKind::receive, 70, 95, 0)}}, 100);
    const TraceAnalysis a = analyze(t);
    EXPECT_EQ(a.messages.at(0).late_receiver(), 60);
    EXPECT_EQ(a.messages.at(0).late_sender(), 0);
}

TEST(TraceAnalysis, WaitOfANonblockingReceiveStartsWithTheCallThatCompletesIt) {
    const Trace t = trace_of({{event(TraceKind::send, 70, 80, 1)},
                              {event(TraceKind::call, 5, 6, -1), event(TraceKind::received, 5, 90, 0),
                               event(TraceKind::call, 50, 90, -1)}},
                             100);
    EXPECT_EQ(analyze(t).messages.at(0).late_sender(), 20);
}

TEST(TraceAnalysis, ReceivesMatchInTheOrderInWhichTheyWerePosted) {
    const Trace t = trace_of({{event(TraceKind::send, 10, 11, 1), event(TraceKind::send, 20, 21, 1),
                               event(TraceKind::send, 30, 31, 1, 7)},
                              // the second posted completes first
                              {event(TraceKind::received, 2, 40, 0), event(TraceKind::received, 1, 40, 0),
                               event(TraceKind::call, 35, 40, -1)}},
                             100);
    const TraceAnalysis a = analyze(t);
    ASSERT_EQ(a.messages.size(), 2U);
    EXPECT_EQ(a.messages[0].sent, 10);
    EXPECT_EQ(a.messages[0].posted, 1);
    EXPECT_EQ(a.messages[1].posted, 2);
    EXPECT_EQ(a.unmatched, 1U);
}

TEST(TraceAnalysis, RanksWaitForTheLastOneInACollective) {
    const Trace t =
        trace_of({{event(TraceKind::collective, 10, 62, -1), event(TraceKind::collective, 80, 90, -1)},
                  {event(TraceKind::collective, 60, 62, -1), event(TraceKind::collective, 70, 90, -1)}},
                 100);
    const TraceAnalysis a = analyze(t);
    ASSERT_EQ(a.collectives.size(), 4U);
    EXPECT_EQ(a.collectives[0].wait(), 50);
    EXPECT_EQ(a.collectives[0].last_rank, 1U);
    EXPECT_EQ(a.collectives[1].wait(), 0);
    EXPECT_EQ(a.collectives[3].wait(), 10);
}

TEST(TraceAnalysis, CriticalPathFollowsTheRankThatEndedAWait) {
    // Rank 0 computes until 70, rank 1 waits for it and computes until the end.
    Trace t = trace_of({{event(TraceKind::send, 70, 72, 1)}, {event(TraceKind::receive, 10, 75, 0)}}, 100);
    t.ranks[0].end = 80;
    const CriticalPath p = analyze(t).path;
    EXPECT_EQ(p.changes, 1U);
    EXPECT_EQ(p.by_rank.at(0), 70);
    EXPECT_EQ(p.by_rank.at(1), 25);
    EXPECT_EQ(p.in_messages, 5);
    EXPECT_EQ(p.computing, 95);
}

} // namespace
} // namespace zipmpi::tool
