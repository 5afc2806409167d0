// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/tree/daemon_start.hpp"

#include <gtest/gtest.h>

using namespace zipmpi::launch;

namespace {

constexpr uint64_t second = 1'000'000'000;
constexpr int exited(int code) { return code << 8; } // wait status

DaemonStart make_start() {
    LaunchTree tree;
    tree.hosts = {"n1"};
    tree.agents = {{"ssh"}};
    tree.daemon = "/opt/zipmpi/bin/zipmpi-noded";
    return {tree, Bootstrap{{0, 1}, {}, {}, "job"}};
}

TEST(DaemonStart, HostThatDoesNotAnswerIsTriedForALimitedTime) {
    DaemonStart start = make_start();
    using Next = DaemonStart::Next;
    EXPECT_EQ(start.on_agent_exit(exited(255), "Connection refused", 100 * second), Next::first_to_retry);
    EXPECT_EQ(start.retry_time(), 101 * second);
    EXPECT_EQ(start.on_agent_exit(exited(255), "Connection refused", 110 * second), Next::retry);
    EXPECT_EQ(start.on_agent_exit(exited(255), "Connection refused", 114 * second), Next::retry);
    EXPECT_EQ(start.on_agent_exit(exited(255), "Connection refused", 115 * second), Next::fail);
}

TEST(DaemonStart, OtherFailuresArePermanent) {
    using Next = DaemonStart::Next;
    for (const char* text : {"root@n1: Permission denied (publickey).", "Host key verification failed."})
        EXPECT_EQ(make_start().on_agent_exit(exited(255), text, second), Next::fail) << text;
    EXPECT_EQ(make_start().on_agent_exit(exited(1), "", second), Next::fail);
    EXPECT_EQ(make_start().on_agent_exit(9, "", second), Next::fail); // killed
}

TEST(DaemonStart, DaemonIsSearchedInPathOnce) {
    using Next = DaemonStart::Next;
    for (const auto& [code, text] :
         {std::pair{127, "sh: not found"}, std::pair{2, "No such file or directory"}}) {
        DaemonStart start = make_start();
        EXPECT_EQ(start.on_agent_exit(exited(code), text, 5 * second), Next::retry);
        EXPECT_EQ(start.retry_time(), 5 * second);
        EXPECT_EQ(start.on_agent_exit(exited(code), text, 6 * second), Next::fail);
    }
}

} // namespace
