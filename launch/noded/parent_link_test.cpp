// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/parent_link.hpp"

#include <gtest/gtest.h>
#include <optional>
#include <sys/socket.h>
#include <vector>

using namespace zipmpi;
using namespace zipmpi::launch;

namespace {

class ParentLinkTest : public testing::Test {
  protected:
    ParentLinkTest()
        : parent(std::in_place, os::Fd(ends()[0]), nullptr)
        , link(loop, {os::Fd(pair[1]), nullptr},
               [this](const ControlFrame& f) { received.push_back(f.type); }) {}
    int* ends() {
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
        return pair;
    }
    int pair[2] = {-1, -1};
    EventLoop loop;
    std::optional<FrameSocket> parent;
    ParentLink link;
    std::vector<ControlFrameType> received;
};

TEST_F(ParentLinkTest, DeliversFramesInOrder) {
    parent->send(ControlFrameType::start, "payload");
    parent->send(ControlFrameType::end_job);
    loop.wait(1000);
    EXPECT_EQ(received, (std::vector{ControlFrameType::start, ControlFrameType::end_job}));
    EXPECT_FALSE(link.is_disconnected());
    EXPECT_EQ(link.next_time(), 0U); // no heartbeats on one host
}

TEST_F(ParentLinkTest, SendsLinesAsOutputOfTheLauncher) {
    link.report_line("text");
    ASSERT_TRUE(parent->receive());
    ControlFrame f;
    ASSERT_TRUE(parent->next(f));
    EXPECT_EQ(f.type, ControlFrameType::output);
    PayloadReader r(f.payload);
    EXPECT_EQ(r.u32(), 2U);
    EXPECT_EQ(r.u32(), no_rank);
    EXPECT_EQ(r.rest(), "mpiexec: text\n");
}

TEST_F(ParentLinkTest, DetectsTheEndOfTheParent) {
    parent->send(ControlFrameType::end_job);
    parent.reset();
    loop.wait(1000); // the frame
    loop.wait(1000); // the end
    EXPECT_EQ(received.size(), 1U);
    EXPECT_TRUE(link.is_disconnected());
}

} // namespace
