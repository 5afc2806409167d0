// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Two probes find each other over the addresses of this host.
#include "transport/discovery/probe.hpp"

#include <array>
#include <chrono>
#include <gtest/gtest.h>
#include <thread>

namespace zipmpi::transport::discovery {
namespace {

using namespace std::chrono_literals;

constexpr std::array<uint8_t, wire::key_bytes> key{1, 2, 3};
constexpr int limit_ms = 5000;

bool search(TcpDeviceProbe& probe, int next, const std::string& addresses) {
    const std::vector<int> incoming{next};
    DeviceProbe::ProbeRequest s{next, addresses, incoming, limit_ms};
    return probe.run(s);
}

// The second gets no CPU time for a while after both have published their addresses.
void probe_each_other(std::chrono::milliseconds late) {
    TcpDeviceProbe first(0, {key, key});
    TcpDeviceProbe second(1, {key, key});
    const std::string at_first = first.listen();
    const std::string at_second = second.listen();
    ASSERT_FALSE(at_first.empty());
    bool found = false;
    std::thread other([&] {
        std::this_thread::sleep_for(late);
        found = search(second, 0, at_first);
    });
    EXPECT_TRUE(search(first, 1, at_second)) << first.log();
    other.join();
    EXPECT_TRUE(found) << second.log();
    EXPECT_FALSE(first.devices().empty());
}

TEST(DeviceProbe, FindsItsPartner) { probe_each_other(0ms); }

TEST(DeviceProbe, WaitsForLatePartner) { probe_each_other(2200ms); }

} // namespace
} // namespace zipmpi::transport::discovery
