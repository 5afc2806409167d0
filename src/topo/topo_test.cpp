// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Machines that are made up by hwloc, and this one. Built with hwloc only.
#include "topo/module.hpp"
#include "topo/node_places.hpp"
#include "topo/place.hpp"

#include "os/host.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <set>
#include <thread>
#include <unistd.h>

using namespace zipmpi;
using namespace zipmpi::topo;

namespace {

Machine made_up(const char* description) {
    Machine m;
    EXPECT_TRUE(read_machine(m, description)) << description;
    return m;
}

PairClass between(const Machine& m, std::vector<int> a, std::vector<int> b) {
    return pair_class(place_of(m, a), place_of(m, b));
}

// Two sockets, each its own memory, four second-level caches of two cores each.
TEST(Topology, TwoSocketsOfFourPairs) {
    const Machine m = made_up("package:2 [numa] l3:1(size=32MiB) l2:4(size=1MiB) core:2 pu:1");
    ASSERT_EQ(m.cpus.size(), 16U);
    EXPECT_EQ(m.l2_bytes, 1U << 20);
    EXPECT_EQ(m.l3_bytes, 32U << 20);
    EXPECT_EQ(between(m, {0}, {0}), PairClass::same_core);
    EXPECT_EQ(between(m, {0}, {1}), PairClass::shared_l2);
    EXPECT_EQ(between(m, {0}, {2}), PairClass::shared_l3);
    EXPECT_EQ(between(m, {0}, {7}), PairClass::shared_l3);
    EXPECT_EQ(between(m, {0}, {8}), PairClass::other_numa);
    EXPECT_EQ(between(m, {7}, {8}), PairClass::other_numa);
}

// Two sockets of 64 cores, eight cores per last-level cache: most pairs of a socket share no cache.
TEST(Topology, TwoSocketsOfEightCaches) {
    const Machine m = made_up("package:2 [numa] l3:8(size=32MiB) l2:8(size=512KiB) core:1 pu:2");
    ASSERT_EQ(m.cpus.size(), 256U);
    std::set<uint16_t> l3, cores;
    for (const CpuPlace& c : m.cpus) {
        l3.insert(c.place.l3);
        cores.insert(c.place.core);
    }
    EXPECT_EQ(l3.size(), 16U);
    EXPECT_EQ(cores.size(), 128U);
    const std::vector<int> core0{0, 1}, core1{2, 3}, core8{16, 17}, core64{128, 129};
    EXPECT_EQ(between(m, core0, core0), PairClass::same_core);
    EXPECT_EQ(between(m, {0}, {1}), PairClass::shared_l2) << "two hardware threads run at the same time";
    EXPECT_EQ(between(m, core0, core1), PairClass::shared_l3);
    EXPECT_EQ(between(m, core0, core8), PairClass::same_numa);
    EXPECT_EQ(between(m, core0, core64), PairClass::other_numa);
    EXPECT_EQ(shared_cache_bytes(m, PairClass::shared_l2), 512U << 10);
    EXPECT_EQ(shared_cache_bytes(m, PairClass::shared_l3), 32U << 20);
    EXPECT_EQ(shared_cache_bytes(m, PairClass::same_numa), 0U);
}

TEST(Topology, RanksThatMayMoveAreAsFarAsTheyMayGet) {
    const Machine m = made_up("package:2 [numa] l3:2(size=8MiB) l2:2(size=1MiB) core:1 pu:1");
    EXPECT_EQ(between(m, {0, 1}, {0, 1}), PairClass::shared_l3);
    EXPECT_EQ(between(m, {0, 1, 2, 3}, {0, 1, 2, 3}), PairClass::same_numa);
    EXPECT_EQ(between(m, {0, 4}, {0}), PairClass::other_numa);
    EXPECT_EQ(between(m, {}, {0}), PairClass::other_numa) << "nothing is known of the first";
}

TEST(Topology, AMachineWithoutCaches) {
    const Machine m = made_up("numa:2 core:2 pu:1");
    EXPECT_EQ(m.l2_bytes, 0U);
    EXPECT_EQ(between(m, {0}, {1}), PairClass::same_numa);
    EXPECT_EQ(between(m, {1}, {2}), PairClass::other_numa);
}

TEST(Topology, NonsenseIsRefused) {
    Machine m;
    EXPECT_FALSE(read_machine(m, "no such thing"));
    EXPECT_TRUE(m.cpus.empty());
}

TEST(Topology, PlacesAtALevel) {
    const Machine m = made_up("package:2 [numa] l3:2(size=8MiB) l2:2(size=1MiB) core:1 pu:1");
    const Place p = place_of(m, {2, 3});
    EXPECT_EQ(index_at(p, Level::machine), 0);
    EXPECT_EQ(index_at(p, Level::package), 0);
    EXPECT_EQ(index_at(p, Level::l3), 1);
    EXPECT_EQ(index_at(p, Level::core), several);
}

TEST(Topology, ThisMachineHasTheCpusThatWeMayUse) {
    Machine m;
    ASSERT_TRUE(read_machine(m));
    os::CpuUnion own;
    own.add(0);
    for (const int cpu : own.list()) {
        const bool found = std::any_of(m.cpus.begin(), m.cpus.end(), [&](auto& c) { return c.cpu == cpu; });
        EXPECT_TRUE(found) << cpu;
    }
    EXPECT_EQ(between(m, {own.list()[0]}, {own.list()[0]}), PairClass::same_core);
}

TEST(NodePlaces, OneLooksForAll) {
    boot::NodeSegment segment;
    Problem why;
    ASSERT_TRUE(boot::NodeSegment::make("test", {0, 1, 2}, 3, segment, why)) << why.why;
    Place place{};
    EXPECT_FALSE(get_place(segment, 0, place));
    const Place bound{0, 0, 0, 0, 0, 0};
    set_place(segment, 1, bound); // the launcher bound this one
    segment.block(0).pid.store(getpid());
    EXPECT_TRUE(look_for_places(segment, 0));
    EXPECT_TRUE(get_place(segment, 0, place));
    EXPECT_TRUE(get_place(segment, 1, place));
    EXPECT_EQ(place, bound);
    EXPECT_FALSE(get_place(segment, 2, place)) << "it has not joined yet";
    EXPECT_TRUE(look_for_places(segment, 0)) << "somebody has looked";
    EXPECT_TRUE(find_own_place(segment, 2, place)) << "who came late finds itself";
}

TEST(NodePlaces, WhoCameLateIsFoundByOthersAndOnlyAMoveChangesIt) {
    boot::NodeSegment segment;
    Problem why;
    ASSERT_TRUE(boot::NodeSegment::make("test", {0, 1}, 2, segment, why)) << why.why;
    EXPECT_TRUE(look_for_places(segment, 0));
    EXPECT_FALSE(look_for_place(segment, 1)) << "it has not joined yet";
    segment.block(1).pid.store(getpid());
    EXPECT_TRUE(look_for_place(segment, 1));
    Place first{};
    Place again{};
    ASSERT_TRUE(get_place(segment, 1, first));
    set_place(segment, 1, {7, 7, 7, 7, 7, 7});
    EXPECT_TRUE(get_place(segment, 1, again));
    EXPECT_EQ(first, again);
    move_place(segment, 1, {7, 7, 7, 7, 7, 7});
    EXPECT_TRUE(get_place(segment, 1, again));
    EXPECT_EQ(again, (Place{7, 7, 7, 7, 7, 7}));
    move_place(segment, 0, first);
    EXPECT_TRUE(get_place(segment, 0, again)) << "also where no place was known";
}

TEST(NodePlaces, APlaceIsReadWholeWhileItIsMoved) {
    boot::NodeSegment segment;
    Problem why;
    ASSERT_TRUE(boot::NodeSegment::make("test", {0}, 1, segment, why)) << why.why;
    const auto all = [](uint16_t n) { return Place{n, n, n, n, n, n}; };
    set_place(segment, 0, all(0));
    std::atomic<bool> over = false;
    std::thread launcher([&] {
        for (uint16_t n = 1; n < 20000; ++n) move_place(segment, 0, all(n));
        over = true;
    });
    while (!over)
        if (Place p{}; get_place(segment, 0, p)) {
            ASSERT_EQ(p, all(p.cpu));
        }
    launcher.join();
}

TEST(NodePlaces, AWriterThatDiedDoesNotHoldTheLauncher) {
    boot::NodeSegment segment;
    Problem why;
    ASSERT_TRUE(boot::NodeSegment::make("test", {0}, 1, segment, why)) << why.why;
    segment.place(0).state.store(1);
    move_place(segment, 0, {});
    Place place{};
    EXPECT_FALSE(get_place(segment, 0, place));
}

} // namespace
