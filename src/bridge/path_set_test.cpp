// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/path_set.hpp"

#include "bridge/frame.hpp"

#include <cstring>
#include <gtest/gtest.h>

namespace zipmpi::bridge {
namespace {

constexpr uint64_t ms = 1'000'000;

class RecordingIo final : public EndpointIo {
  public:
    PostStatus send(int path, std::span<const std::byte> head, std::span<const std::byte>,
                    FrameTicket*) override {
        wire::Frame frame{};
        std::memcpy(&frame, head.data(), sizeof frame);
        EXPECT_EQ(frame.type, wire::FrameType::heartbeat);
        EXPECT_EQ(frame.path, path);
        EXPECT_EQ(frame.from, 0);
        EXPECT_EQ(frame.job, 9U);
        last = frame;
        probed.push_back(path);
        return PostStatus::done;
    }
    void close_path(int) override {}
    void revoke_buffer(std::span<const std::byte>) override {}
    [[nodiscard]] bool is_relayed(int) const override { return true; }
    [[nodiscard]] std::vector<int> paths_to(int) const override { return {0, 1}; }
    [[nodiscard]] uint64_t now_ns() const override { return now; }

    std::vector<int> probed;
    wire::Frame last{};
    uint64_t now = 1000 * ms;
};

class PathSetTest : public testing::Test {
  protected:
    PathSetTest() {
        for (int path : route.paths) paths.set_up(path);
    }
    void send(int path, uint64_t bytes) {
        UnackedFrame& frame = *frames.emplace_back(std::make_unique<UnackedFrame>());
        frame.copy.resize(bytes);
        frame.data = frame.copy;
        paths.track(path, frame);
    }

    EndpointLimits limits;
    RecordingIo io;
    EndpointStats counters;
    PathSet paths{{0, 9}, 2, limits, io, counters};
    FlowRoute route{{0, 1}};
    std::vector<std::unique_ptr<UnackedFrame>> frames;
};

TEST_F(PathSetTest, LongFramesAlternateByBytesInFlight) {
    EXPECT_EQ(paths.choose(route, 100'000), 0);
    send(0, 100'000);
    EXPECT_EQ(paths.choose(route, 100'000), 1);
}

TEST_F(PathSetTest, NoPathWithoutCredit) {
    for (int path : route.paths) send(path, limits.path_bytes);
    EXPECT_EQ(paths.choose(route, 1000), -1);
    EXPECT_GE(paths.control_path(route), 0); // control frames need none
    paths.on_credit(1, limits.path_bytes);
    EXPECT_EQ(paths.choose(route, 1000), 1);
}

TEST_F(PathSetTest, SilentPathIsProbedAndAvoided) {
    io.now += 2 * limits.heartbeat_ns;
    paths.on_heard(1);
    EXPECT_EQ(paths.choose(route, 8), 1);
    EXPECT_EQ(io.probed, std::vector<int>{0});
    EXPECT_EQ(paths.choose(route, 8), 1);
    EXPECT_EQ(io.probed.size(), 1U); // once
    EXPECT_FALSE(paths.has_timed_out(0, io.now));
    io.now += limits.heartbeat_timeout_ns;
    EXPECT_TRUE(paths.has_timed_out(0, io.now));
}

TEST_F(PathSetTest, ControlFramesAwaitConfirmation) {
    paths.count_control(0);
    EXPECT_FALSE(paths.all_confirmed());
    paths.on_heartbeat(0, 2); // more than were sent
    EXPECT_FALSE(paths.all_confirmed());
    paths.on_heartbeat(0, 1);
    EXPECT_TRUE(paths.all_confirmed());
}

TEST_F(PathSetTest, FramesOnPathUntilUntracked) {
    for (int i = 0; i < 3; ++i) send(0, 8);
    paths.untrack(*frames[1]);
    EXPECT_EQ(paths.frames_on(0).size(), 3U);
    paths.untrack(*frames[0]);
    EXPECT_EQ(paths.frames_on(0).size(), 1U);
    paths.untrack(*frames[2]);
    EXPECT_FALSE(paths.needs_check(0));
}

TEST_F(PathSetTest, ChangesOfStateAreReportedOnce) {
    EXPECT_FALSE(paths.set_up(0));
    EXPECT_TRUE(paths.set_down(0));
    EXPECT_FALSE(paths.is_up(0));
    EXPECT_FALSE(paths.set_down(0));
    EXPECT_EQ(counters.paths_lost, 1U);
    EXPECT_TRUE(paths.set_up(0));
    EXPECT_TRUE(paths.is_up(0));
}

// What was sent on the former connection needs neither credit nor confirmation.
TEST_F(PathSetTest, PathThatReturnsStartsAnew) {
    send(0, limits.path_bytes);
    paths.count_control(0);
    paths.probe(0, io.now);
    paths.set_down(0);
    EXPECT_TRUE(paths.all_gateways_replied()); // none is asked
    paths.set_up(0);
    EXPECT_TRUE(paths.all_confirmed());
    EXPECT_TRUE(paths.all_probes_replied());
    paths.set_down(1);
    EXPECT_EQ(paths.choose(route, limits.path_bytes), 0);
}

TEST_F(PathSetTest, PathThatReturnsIsTrustedLater) {
    paths.set_down(0);
    paths.set_up(0);
    io.now += 3 * limits.heartbeat_ns - 1;
    for (int path : route.paths) paths.on_heard(path);
    EXPECT_EQ(paths.choose(route, 100'000), 1);
    EXPECT_TRUE(io.probed.empty()); // it is not silent
    io.now += 1;
    send(1, 100'000);
    EXPECT_EQ(paths.choose(route, 100'000), 0);
    paths.set_down(1);
    paths.set_down(0);
    paths.set_up(0);
    EXPECT_EQ(paths.choose(route, 8), 0); // the only one
}

TEST_F(PathSetTest, PathIsSilentAfterHeartbeatInterval) {
    io.now += limits.heartbeat_ns;
    paths.on_heard(1);
    EXPECT_EQ(paths.choose(route, 8), 0);
    io.now += 1;
    EXPECT_EQ(paths.choose(route, 8), 1);
    paths.on_heard(0);
    EXPECT_TRUE(paths.all_probes_replied());
}

TEST_F(PathSetTest, SinglePathIsNotProbedByChoice) {
    route.paths = {0};
    io.now += 2 * limits.heartbeat_ns;
    EXPECT_EQ(paths.choose(route, 8), 0);
    EXPECT_TRUE(io.probed.empty());
}

TEST_F(PathSetTest, CreditLimitsBytesInFlight) {
    route.paths = {0};
    EXPECT_EQ(paths.choose(route, limits.path_bytes + 1), 0); // nothing is in flight
    send(0, 1000 - sizeof(wire::Frame));
    EXPECT_EQ(paths.choose(route, limits.path_bytes - 1000), 0);
    EXPECT_EQ(paths.choose(route, limits.path_bytes - 999), -1);
    paths.on_credit(0, 1);
    EXPECT_EQ(paths.choose(route, limits.path_bytes - 999), 0);
    paths.on_credit(0, 5000); // more than is in flight
    EXPECT_EQ(paths.choose(route, limits.path_bytes + 1), 0);
}

TEST_F(PathSetTest, ShortFramesStayUntilAnotherPathIsTwiceAsGood) {
    constexpr uint64_t cost = 512; // of a frame
    EXPECT_EQ(paths.choose(route, 8), 0);
    send(0, 8 + cost - sizeof(wire::Frame));
    EXPECT_EQ(paths.choose(route, 8), 0);
    send(0, 1);
    EXPECT_EQ(paths.choose(route, 8), 1);
    EXPECT_EQ(route.last_path, 1);
}

TEST_F(PathSetTest, OnlyShortFramesStay) {
    constexpr uint64_t small = 16 << 10;
    EXPECT_EQ(paths.choose(route, 8), 0);
    send(0, 8);
    EXPECT_EQ(paths.choose(route, small), 0);
    EXPECT_EQ(paths.choose(route, small + 1), 1);
}

// A path that takes 4 ns per byte is used for a fifth of the bytes.
TEST_F(PathSetTest, FasterPathTakesMore) {
    for (int round = 0; round < 30; ++round) {
        send(0, 1'000'000);
        io.now += 4 * ms;
        for (int path : route.paths) paths.on_heard(path);
        paths.on_credit(0, 1'000'000);
    }
    paths.on_credit(0, limits.path_bytes);
    EXPECT_EQ(paths.choose(route, 100'000), 1);
    send(1, 280'000);
    EXPECT_EQ(paths.choose(route, 100'000), 1);
    send(1, 50'000);
    EXPECT_EQ(paths.choose(route, 100'000), 0);
}

TEST_F(PathSetTest, ControlFramesFollowThePeer) {
    route.last_path = 0;
    route.last_heard_path = 1;
    EXPECT_EQ(paths.control_path(route), 1);
    paths.set_down(1);
    EXPECT_EQ(paths.control_path(route), 0);
    EXPECT_TRUE(paths.has_path(route));
    paths.set_down(0);
    EXPECT_EQ(paths.control_path(route), -1);
    EXPECT_FALSE(paths.has_path(route));
    paths.set_up(1);
    route.last_path = route.last_heard_path = -1;
    EXPECT_EQ(paths.control_path(route), 1);
    route.paths = {0}; // it no longer leads to the peer
    route.last_heard_path = 1;
    EXPECT_EQ(paths.control_path(route), -1);
}

TEST_F(PathSetTest, ProbesAreSentOnceAndTimeOut) {
    paths.probe_all();
    EXPECT_EQ(io.probed, (std::vector<int>{0, 1}));
    paths.probe(0, io.now);
    EXPECT_EQ(io.probed.size(), 2U);
    EXPECT_EQ(counters.control_out, 2U);
    io.now += limits.heartbeat_timeout_ns - limits.heartbeat_ns - 1;
    EXPECT_FALSE(paths.has_timed_out(0, io.now));
    EXPECT_TRUE(paths.has_timed_out(0, io.now + 1));
    paths.on_heard(0);
    EXPECT_FALSE(paths.has_timed_out(0, io.now + limits.heartbeat_timeout_ns));
    paths.set_down(1);
    io.probed.clear();
    paths.probe_all();
    EXPECT_EQ(io.probed, std::vector<int>{0});
}

TEST_F(PathSetTest, UnconfirmedControlFramesAreProbedFor) {
    io.now += 10 * ms;
    paths.count_control(0);
    io.now += 10 * ms;
    paths.count_control(0); // the first one counts
    EXPECT_TRUE(paths.needs_check(0));
    EXPECT_FALSE(paths.needs_check(1));
    paths.probe_if_silent(0, io.now + limits.heartbeat_ns - 10 * ms - 1);
    EXPECT_TRUE(io.probed.empty());
    paths.probe_if_silent(0, io.now + limits.heartbeat_ns - 10 * ms);
    EXPECT_EQ(io.probed, std::vector<int>{0});
    EXPECT_EQ(io.last.sequence, 2U);
    paths.on_heartbeat(0, 2);
    paths.on_heartbeat(0, 1); // an earlier reply
    EXPECT_TRUE(paths.all_confirmed());
}

TEST_F(PathSetTest, OldestFrameDeterminesProbe) {
    send(0, 8);
    io.now += 10 * ms;
    send(0, 8);
    paths.on_heard(0);
    paths.probe_if_silent(0, io.now + limits.heartbeat_ns - 1); // heard later than sent
    EXPECT_TRUE(io.probed.empty());
    paths.probe_if_silent(0, io.now + limits.heartbeat_ns);
    EXPECT_EQ(io.probed, std::vector<int>{0});
}

} // namespace
} // namespace zipmpi::bridge
