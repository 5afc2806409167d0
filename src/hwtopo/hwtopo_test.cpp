// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Tests on synthetic machines of hwloc and on this machine. Built only with hwloc.
#include "hwtopo/machine.hpp"
#include "hwtopo/node_locality.hpp"
#include "hwtopo/topology_module.hpp"

#include "os/host.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <set>
#include <thread>
#include <unistd.h>

using namespace zipmpi;
using namespace zipmpi::hwtopo;

namespace {

Machine synthetic(const char* description) {
    Machine m;
    EXPECT_TRUE(read_machine(m, description)) << description;
    return m;
}

PairClass class_between(const Machine& m, std::vector<int> a, std::vector<int> b) {
    return pair_class(locality_of(m, a), locality_of(m, b));
}

// Two sockets, each with its own memory and four L2 caches of two cores each.
TEST(Topology, TwoSocketsWithFourL2CachesEach) {
    const Machine m = synthetic("package:2 [numa] l3:1(size=32MiB) l2:4(size=1MiB) core:2 pu:1");
    ASSERT_EQ(m.cpus.size(), 16U);
    EXPECT_EQ(m.l2_bytes, 1U << 20);
    EXPECT_EQ(m.l3_bytes, 32U << 20);
    EXPECT_EQ(class_between(m, {0}, {0}), PairClass::same_core);
    EXPECT_EQ(class_between(m, {0}, {1}), PairClass::shared_l2);
    EXPECT_EQ(class_between(m, {0}, {2}), PairClass::shared_l3);
    EXPECT_EQ(class_between(m, {0}, {7}), PairClass::shared_l3);
    EXPECT_EQ(class_between(m, {0}, {8}), PairClass::other_numa);
    EXPECT_EQ(class_between(m, {7}, {8}), PairClass::other_numa);
}

// Two sockets of 64 cores, eight cores per L3 cache: most pairs of a socket share no cache.
TEST(Topology, TwoSocketsWithEightL3CachesEach) {
    const Machine m = synthetic("package:2 [numa] l3:8(size=32MiB) l2:8(size=512KiB) core:1 pu:2");
    ASSERT_EQ(m.cpus.size(), 256U);
    std::set<uint16_t> l3, cores;
    for (const CpuLocality& c : m.cpus) {
        l3.insert(c.locality.l3);
        cores.insert(c.locality.core);
    }
    EXPECT_EQ(l3.size(), 16U);
    EXPECT_EQ(cores.size(), 128U);
    const std::vector<int> core0{0, 1}, core1{2, 3}, core8{16, 17}, core64{128, 129};
    EXPECT_EQ(class_between(m, core0, core0), PairClass::same_core);
    EXPECT_EQ(class_between(m, {0}, {1}), PairClass::shared_l2)
        << "two hardware threads run at the same time";
    EXPECT_EQ(class_between(m, core0, core1), PairClass::shared_l3);
    EXPECT_EQ(class_between(m, core0, core8), PairClass::same_numa);
    EXPECT_EQ(class_between(m, core0, core64), PairClass::other_numa);
    EXPECT_EQ(shared_cache_bytes(m, PairClass::shared_l2), 512U << 10);
    EXPECT_EQ(shared_cache_bytes(m, PairClass::shared_l3), 32U << 20);
    EXPECT_EQ(shared_cache_bytes(m, PairClass::same_numa), 0U);
}

TEST(Topology, UnboundRanksHaveTheLargestPossibleDistance) {
    const Machine m = synthetic("package:2 [numa] l3:2(size=8MiB) l2:2(size=1MiB) core:1 pu:1");
    EXPECT_EQ(class_between(m, {0, 1}, {0, 1}), PairClass::shared_l3);
    EXPECT_EQ(class_between(m, {0, 1, 2, 3}, {0, 1, 2, 3}), PairClass::same_numa);
    EXPECT_EQ(class_between(m, {0, 4}, {0}), PairClass::other_numa);
    EXPECT_EQ(class_between(m, {}, {0}), PairClass::other_numa) << "the first locality is unknown";
}

TEST(Topology, MachineWithoutCaches) {
    const Machine m = synthetic("numa:2 core:2 pu:1");
    EXPECT_EQ(m.l2_bytes, 0U);
    EXPECT_EQ(class_between(m, {0}, {1}), PairClass::same_numa);
    EXPECT_EQ(class_between(m, {1}, {2}), PairClass::other_numa);
}

TEST(Topology, InvalidDescriptionIsRejected) {
    Machine m;
    EXPECT_FALSE(read_machine(m, "no such thing"));
    EXPECT_TRUE(m.cpus.empty());
}

TEST(Topology, IndexAtALevel) {
    const Machine m = synthetic("package:2 [numa] l3:2(size=8MiB) l2:2(size=1MiB) core:1 pu:1");
    const Locality p = locality_of(m, {2, 3});
    EXPECT_EQ(index_at(p, Level::machine), 0);
    EXPECT_EQ(index_at(p, Level::package), 0);
    EXPECT_EQ(index_at(p, Level::l3), 1);
    EXPECT_EQ(index_at(p, Level::core), spans_several);
}

TEST(Topology, ThisMachineHasAllUsableCpus) {
    Machine m;
    ASSERT_TRUE(read_machine(m));
    os::CpuUnion usable;
    usable.add(0);
    for (const int cpu : usable.list()) {
        const bool found = std::any_of(m.cpus.begin(), m.cpus.end(), [&](auto& c) { return c.cpu == cpu; });
        EXPECT_TRUE(found) << cpu;
    }
    EXPECT_EQ(class_between(m, {usable.list()[0]}, {usable.list()[0]}), PairClass::same_core);
}

TEST(NodeLocality, OneRankDiscoversForAll) {
    segment::NodeSegment segment;
    Diagnostic why;
    ASSERT_TRUE(segment::NodeSegment::make("test", {0, 1, 2}, 3, segment, why)) << why.why;
    Locality locality{};
    EXPECT_FALSE(get_locality(segment, 0, locality));
    const Locality bound{0, 0, 0, 0, 0, 0};
    set_locality(segment, 1, bound); // the launcher bound this one
    segment.block(0).pid.store(getpid());
    EXPECT_TRUE(discover_localities(segment, 0));
    EXPECT_TRUE(get_locality(segment, 0, locality));
    EXPECT_TRUE(get_locality(segment, 1, locality));
    EXPECT_EQ(locality, bound);
    EXPECT_FALSE(get_locality(segment, 2, locality)) << "it has not joined yet";
    EXPECT_TRUE(discover_localities(segment, 0)) << "discovery is done";
    EXPECT_TRUE(own_locality(segment, 2, locality)) << "a late rank finds its own locality";
}

TEST(NodeLocality, LateRankIsDiscoveredAndOnlyAnUpdateChangesIt) {
    segment::NodeSegment segment;
    Diagnostic why;
    ASSERT_TRUE(segment::NodeSegment::make("test", {0, 1}, 2, segment, why)) << why.why;
    EXPECT_TRUE(discover_localities(segment, 0));
    EXPECT_FALSE(discover_locality(segment, 1)) << "it has not joined yet";
    segment.block(1).pid.store(getpid());
    EXPECT_TRUE(discover_locality(segment, 1));
    Locality first{};
    Locality again{};
    ASSERT_TRUE(get_locality(segment, 1, first));
    set_locality(segment, 1, {7, 7, 7, 7, 7, 7});
    EXPECT_TRUE(get_locality(segment, 1, again));
    EXPECT_EQ(first, again);
    update_locality(segment, 1, {7, 7, 7, 7, 7, 7});
    EXPECT_TRUE(get_locality(segment, 1, again));
    EXPECT_EQ(again, (Locality{7, 7, 7, 7, 7, 7}));
    update_locality(segment, 0, first);
    EXPECT_TRUE(get_locality(segment, 0, again)) << "also if no locality was known";
}

TEST(NodeLocality, RankThatHasLeftIsNotAwaited) {
    segment::NodeSegment segment;
    Diagnostic why;
    ASSERT_TRUE(segment::NodeSegment::make("test", {0, 1}, 2, segment, why)) << why.why;
    EXPECT_TRUE(discover_localities(segment, 0));
    const auto left = static_cast<uint32_t>(wire::RankState::finalized);
    segment.block(1).state.store(left); // without a pid: its process has ended
    EXPECT_TRUE(discover_locality(segment, 1));
    Locality locality{};
    EXPECT_FALSE(get_locality(segment, 1, locality));
}

TEST(NodeLocality, ReadIsConsistentDuringUpdates) {
    segment::NodeSegment segment;
    Diagnostic why;
    ASSERT_TRUE(segment::NodeSegment::make("test", {0}, 1, segment, why)) << why.why;
    const auto all = [](uint16_t n) { return Locality{n, n, n, n, n, n}; };
    set_locality(segment, 0, all(0));
    std::atomic<bool> over = false;
    std::thread launcher([&] {
        for (uint16_t n = 1; n < 20000; ++n) update_locality(segment, 0, all(n));
        over = true;
    });
    while (!over)
        if (Locality p{}; get_locality(segment, 0, p)) {
            ASSERT_EQ(p, all(p.cpu));
        }
    launcher.join();
}

TEST(NodeLocality, DeadWriterDoesNotBlockTheLauncher) {
    segment::NodeSegment segment;
    Diagnostic why;
    ASSERT_TRUE(segment::NodeSegment::make("test", {0}, 1, segment, why)) << why.why;
    segment.node_info().locality(0).state.store(1);
    update_locality(segment, 0, {});
    Locality locality{};
    EXPECT_FALSE(get_locality(segment, 0, locality));
}

} // namespace
