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
        probed.push_back(path);
        return PostStatus::done;
    }
    void close_path(int) override {}
    void revoke_buffer(std::span<const std::byte>) override {}
    [[nodiscard]] bool is_relayed(int) const override { return true; }
    [[nodiscard]] std::vector<int> paths_to(int) const override { return {0, 1}; }
    [[nodiscard]] uint64_t now_ns() const override { return now; }

    std::vector<int> probed;
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

} // namespace
} // namespace zipmpi::bridge
