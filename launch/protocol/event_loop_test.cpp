// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/protocol/event_loop.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <vector>

using namespace zipmpi;
using zipmpi::launch::EventLoop;

namespace {

struct TestPipe {
    TestPipe() {
        int ends[2];
        EXPECT_EQ(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
        in.reset(ends[0]);
        out.reset(ends[1]);
    }
    void put() { EXPECT_EQ(write(out.get(), "x", 1), 1); }
    os::Fd in, out;
};

TEST(EventLoop, CallsTheHandlerOfTheSourceWithTheIndex) {
    EventLoop loop;
    std::vector<uint32_t> first;
    std::vector<uint32_t> second;
    const EventLoop::Source a = loop.add_source([&](uint32_t index, uint32_t) { first.push_back(index); });
    const EventLoop::Source b = loop.add_source([&](uint32_t index, uint32_t) { second.push_back(index); });
    TestPipe p;
    TestPipe q;
    loop.watch(p.in.get(), EPOLLIN, a, 7);
    loop.watch(q.in.get(), EPOLLIN, b, 8);
    p.put();
    loop.wait(0);
    EXPECT_EQ(first, std::vector<uint32_t>{7});
    EXPECT_TRUE(second.empty());
}

TEST(EventLoop, ChangesAndRemovesDescriptors) {
    EventLoop loop;
    int calls = 0;
    const EventLoop::Source source = loop.add_source([&](uint32_t, uint32_t) { ++calls; });
    TestPipe p;
    p.put();
    loop.watch(p.in.get(), 0, source);
    loop.wait(0);
    EXPECT_EQ(calls, 0);
    loop.watch(p.in.get(), EPOLLIN, source);
    loop.wait(0);
    EXPECT_EQ(calls, 1);
    loop.unwatch(p.in.get());
    loop.wait(0);
    EXPECT_EQ(calls, 1);
}

TEST(EventLoop, NestsInAnotherLoop) {
    EventLoop outer;
    EventLoop inner;
    int calls = 0;
    const EventLoop::Source pipes = inner.add_source([&](uint32_t, uint32_t) { ++calls; });
    const EventLoop::Source nested = outer.add_source([&](uint32_t, uint32_t) { inner.wait(0); });
    TestPipe p;
    inner.watch(p.in.get(), EPOLLIN, pipes);
    outer.watch(inner.fd(), EPOLLIN, nested);
    outer.wait(0);
    EXPECT_EQ(calls, 0);
    p.put();
    outer.wait(1000);
    EXPECT_EQ(calls, 1);
}

} // namespace
