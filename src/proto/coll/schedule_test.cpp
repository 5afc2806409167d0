// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A schedule is a description: it is built and inspected without a progress engine.
#include "proto/coll/algorithms.hpp"

#include <gtest/gtest.h>
#include <string>

namespace zipmpi::proto::coll {
namespace {

// One letter per step, with the peer of messages.
std::string describe(Schedule& s) {
    std::string text;
    for (uint32_t i = 0; i < s.step_count(); ++i) {
        const Step& step = s.step(i);
        text += "srckfw"[static_cast<size_t>(step.kind)];
        if (step.kind == Step::Kind::send || step.kind == Step::Kind::recv)
            text += std::to_string(s.message(step.message).peer);
    }
    return text;
}

Team team_of(int rank, int size) {
    Team t;
    t.context = 2;
    t.rank = rank;
    t.size = size;
    return t;
}

TEST(Schedule, BarrierSteps) {
    Team t = team_of(1, 5);
    Schedule s({t.context, 7});
    barrier_dissemination::build(s, t);
    EXPECT_EQ(describe(s), "r0s2wr4s3wr2s0w");
    EXPECT_EQ(s.message(0).tag, 7);
    EXPECT_EQ(s.message(0).context, 3U);
}

TEST(Schedule, BroadcastSteps) {
    char data[8] = {};
    Team root = team_of(0, 4);
    Schedule s({root.context, 1});
    broadcast_binomial::build(s, root, data, sizeof data, 0);
    EXPECT_EQ(describe(s), "s2s1w");
    Team leaf = team_of(3, 4);
    Schedule other({leaf.context, 1});
    broadcast_binomial::build(other, leaf, data, sizeof data, 0);
    EXPECT_EQ(describe(other), "r2w");
}

TEST(Schedule, ClearKeepsScratchMemory) {
    Team t = team_of(0, 2);
    Schedule s({t.context, 1});
    std::byte* small = s.scratch(16);
    std::byte* large = s.scratch(100000);
    s.copy(small, large, 16);
    s.send(t, large, 100000, 1);
    s.clear_steps();
    EXPECT_TRUE(s.empty());
    EXPECT_EQ(s.message_count(), 0U);
    large[99999] = small[15] = std::byte{1};
    EXPECT_EQ(s.state(), Err::success);
}

// Open messages get their buffers later.
TEST(Schedule, OpenMessages) {
    Team t = team_of(0, 2);
    Schedule s({t.context, 1});
    const uint32_t m = s.open_recv(t, 1);
    EXPECT_TRUE(s.message(m).open);
    std::byte data[4];
    s.fill(m, data, sizeof data);
    EXPECT_EQ(s.message(m).bytes, 4U);
    EXPECT_EQ(s.message(m).buffer, data);
}

} // namespace
} // namespace zipmpi::proto::coll
