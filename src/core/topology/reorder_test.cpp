// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/topology/reorder.hpp"

#include "core/comm/locality.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace zipmpi::core {
namespace {

// Two sockets of four cores: memory and last-level cache per socket, second-level cache per core.
ProcessLocality at_core(int core) {
    const auto c = static_cast<uint16_t>(core);
    const auto socket = static_cast<uint16_t>(core / 4);
    return {0, 0, {socket, socket, socket, c, c, c}};
}

void expect_permutation(Order order) {
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, identity_order(static_cast<int>(order.size())));
}

// Communicating pairs, spread over the sockets by round-robin placement: each pair is moved to one socket.
TEST(Reorder, PlacesCommunicatingPairsTogether) {
    std::vector<ProcessLocality> localities;
    for (int p = 0; p < 8; ++p) localities.push_back(at_core(p % 2 * 4 + p / 2));
    std::vector<CommEdge> edges;
    for (int r = 0; r < 8; r += 2) edges.push_back({r, r + 1, 10});
    const Order order = locality_order(localities, 8, edges);
    expect_permutation(order);
    EXPECT_LT(cost_of(order, localities, edges), cost_of(identity_order(8), localities, edges));
    for (int r = 0; r < 8; r += 2)
        EXPECT_EQ(localities[static_cast<size_t>(order[static_cast<size_t>(r)])].hw_locality.package,
                  localities[static_cast<size_t>(order[static_cast<size_t>(r) + 1])].hw_locality.package);
}

// A ring over two sockets crosses between them only twice.
TEST(Reorder, RingCrossesSocketsTwice) {
    std::vector<ProcessLocality> localities;
    for (int p = 0; p < 8; ++p) localities.push_back(at_core(p % 2 * 4 + p / 2));
    std::vector<CommEdge> ring;
    for (int r = 0; r < 8; ++r) ring.push_back({r, (r + 1) % 8, 1});
    const Order order = locality_order(localities, 8, ring);
    int crossings = 0;
    for (const CommEdge& e : ring)
        crossings +=
            localities[static_cast<size_t>(order[static_cast<size_t>(e.from)])].hw_locality.package !=
            localities[static_cast<size_t>(order[static_cast<size_t>(e.to)])].hw_locality.package;
    EXPECT_EQ(crossings, 2);
}

// Equal cores on two hosts, and hosts of two clusters: each communicating pair is moved to one of them.
TEST(Reorder, HostsAndClustersAreFartherThanSockets) {
    for (const int clusters : {1, 2}) {
        std::vector<ProcessLocality> localities;
        for (int p = 0; p < 8; ++p) {
            ProcessLocality locality = at_core(p / 2);
            locality.node = p % 2;
            locality.cluster = p % clusters;
            localities.push_back(locality);
        }
        std::vector<CommEdge> edges;
        for (int r = 0; r < 8; r += 2) edges.push_back({r, r + 1, 1});
        const Order order = locality_order(localities, 8, edges);
        expect_permutation(order);
        for (size_t r = 0; r < 8; r += 2)
            EXPECT_EQ(localities[static_cast<size_t>(order[r])].node,
                      localities[static_cast<size_t>(order[r + 1])].node);
    }
}

// A 4 x 4 torus on two sockets of eight cores: greedy growth alone leaves corners behind.
TEST(Reorder, SplitsTorusInHalves) {
    std::vector<ProcessLocality> localities;
    for (uint16_t p = 0; p < 16; ++p) {
        const auto socket = static_cast<uint16_t>(p % 2);
        localities.push_back({0, 0, {socket, socket, socket, p, p, p}});
    }
    std::vector<CommEdge> torus;
    for (int r = 0; r < 16; ++r) {
        torus.push_back({r, r / 4 * 4 + (r + 1) % 4, 1});
        torus.push_back({r, (r + 4) % 16, 1});
    }
    const Order order = locality_order(localities, 16, torus);
    expect_permutation(order);
    int crossings = 0;
    for (const CommEdge& e : torus)
        crossings +=
            localities[static_cast<size_t>(order[static_cast<size_t>(e.from)])].hw_locality.package !=
            localities[static_cast<size_t>(order[static_cast<size_t>(e.to)])].hw_locality.package;
    EXPECT_EQ(crossings, 8); // minimum: two rows on each socket
}

// Programs (SNAP) send to rank 0 of the topology what rank 0 of the old communicator receives.
TEST(Reorder, ProcessZeroKeepsRankZero) {
    for (int zero = 0; zero < 8; ++zero) { // core of process 0
        std::vector<ProcessLocality> localities;
        for (int p = 0; p < 8; ++p) localities.push_back(at_core((p % 2 * 4 + p / 2 + zero) % 8));
        std::vector<CommEdge> grid; // 4 x 2
        for (int r = 0; r < 8; r += 2) grid.push_back({r, r + 1, 3});
        for (int r = 0; r < 6; ++r) grid.push_back({r, r + 2, 1});
        const Order order = locality_order(localities, 8, grid);
        expect_permutation(order);
        EXPECT_EQ(order[0], 0) << zero;
        EXPECT_LT(cost_of(order, localities, grid), cost_of(identity_order(8), localities, grid)) << zero;
    }
}

TEST(Reorder, ProcessZeroKeepsRankZeroInAnyGraph) {
    std::minstd_rand random(1);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    for (int round = 0; round < 200; ++round) {
        std::vector<ProcessLocality> localities;
        for (int p = 0; p < 12; ++p) localities.push_back(at_core(below(16)));
        std::vector<CommEdge> edges;
        for (int e = 0; e < 30; ++e) edges.push_back({below(12), below(12), 1 + below(9)});
        const Order order = locality_order(localities, 12, edges);
        expect_permutation(order);
        EXPECT_EQ(order[0], 0) << round;
    }
}

TEST(Reorder, KeepsIdentityWithoutGain) {
    const std::vector<ProcessLocality> unknown(6, {0, 0, unknown_locality});
    std::vector<CommEdge> edges{{0, 5, 1}, {1, 4, 1}};
    EXPECT_EQ(locality_order(unknown, 6, edges), identity_order(6));
    std::vector<ProcessLocality> good;
    for (int p = 0; p < 8; ++p) good.push_back(at_core(p));
    std::vector<CommEdge> line;
    for (int r = 0; r < 7; ++r) line.push_back({r, r + 1, 1});
    EXPECT_EQ(locality_order(good, 8, line), identity_order(8));
    EXPECT_EQ(locality_order(good, 1, {}), identity_order(1));
    EXPECT_TRUE(locality_order(good, 0, {}).empty());
}

} // namespace
} // namespace zipmpi::core
