// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Two probes look for each other over the addresses of this host.
#include "transport/ucx/probe.hpp"

#include <array>
#include <chrono>
#include <gtest/gtest.h>
#include <thread>

namespace zipmpi::transport::ucx {
namespace {

using namespace std::chrono_literals;

constexpr std::array<uint8_t, wire::job_key_bytes> key{1, 2, 3};
constexpr int limit_ms = 5000;

bool search(SocketProbe& probe, int next, const std::string& addresses) {
    const std::vector<int> askers{next};
    Probe::Search s{next, addresses, askers, limit_ms, nullptr};
    return probe.run(s);
}

// The second gets no CPU for a while after both have said where they listen.
void find_each_other(std::chrono::milliseconds late) {
    SocketProbe first(0, key);
    SocketProbe second(1, key);
    const std::string at_first = first.listen();
    const std::string at_second = second.listen();
    ASSERT_FALSE(at_first.empty());
    bool found = false;
    std::thread other([&] {
        std::this_thread::sleep_for(late);
        found = search(second, 0, at_first);
    });
    EXPECT_TRUE(search(first, 1, at_second)) << first.story();
    other.join();
    EXPECT_TRUE(found) << second.story();
    EXPECT_FALSE(first.devices().empty());
}

TEST(Probe, FindsItsNeighbour) { find_each_other(0ms); }

TEST(Probe, WaitsForALateNeighbour) { find_each_other(2200ms); }

} // namespace
} // namespace zipmpi::transport::ucx
