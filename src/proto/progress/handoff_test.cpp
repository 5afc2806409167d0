// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/progress/handoff.hpp"

#include <gtest/gtest.h>
#include <thread>

namespace zipmpi::proto {
namespace {

constexpr int64_t long_ns = 4'000'000'000;

// The progress thread sleeps for long right after a wakeup; the next thread that leaves MPI must wake it,
// however short the interval.
TEST(ProgressHandoff, LongSleepIsAlwaysEnded) {
    ProgressHandoff handoff;
    const int64_t begin = os::now_ns();
    std::thread sleeper([&] {
        handoff.park();
        handoff.on_leave(false); // a wakeup: the interval begins
        handoff.park();
        handoff.sleep(long_ns, handoff.entries(), [] { return true; });
    });
    while (!handoff.is_asleep() && os::now_ns() - begin < long_ns) std::this_thread::yield();
    handoff.on_leave(false);
    sleeper.join();
    EXPECT_LT(os::now_ns() - begin, long_ns / 2);
}

// A thread that entered MPI, and left before the long sleep began, may not have woken the progress thread.
TEST(ProgressHandoff, NoLongSleepAfterAnEntry) {
    ProgressHandoff handoff;
    const uint32_t seen = handoff.entries();
    handoff.park();
    handoff.count_entry();
    const int64_t begin = os::now_ns();
    handoff.sleep(long_ns, seen, [] { return true; });
    EXPECT_LT(os::now_ns() - begin, long_ns / 2);
}

// A thread was inside MPI when the progress thread looked, and has left without waking it.
TEST(ProgressHandoff, NoLongSleepWithoutAThreadInside) {
    ProgressHandoff handoff;
    handoff.park();
    const int64_t begin = os::now_ns();
    handoff.sleep(long_ns, handoff.entries(), [] { return false; });
    EXPECT_LT(os::now_ns() - begin, long_ns / 2);
}

} // namespace
} // namespace zipmpi::proto
