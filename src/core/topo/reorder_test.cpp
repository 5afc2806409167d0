// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/topo/reorder.hpp"

#include "core/comm/hardware.hpp"

#include <algorithm>
#include <gtest/gtest.h>

namespace zipmpi::core {
namespace {

// Two sockets of four cores: memory and last-level cache per socket, second-level cache per core.
Spot at_core(int core) {
    const auto c = static_cast<uint16_t>(core);
    const auto socket = static_cast<uint16_t>(core / 4);
    return {0, 0, {socket, socket, socket, c, c, c}};
}

void expect_permutation(Order order) {
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, same_order(static_cast<int>(order.size())));
}

// Pairs of ranks that talk, spread over the sockets by a round-robin placement: each pair gets one socket.
TEST(Reorder, BringsTogetherWhoTalks) {
    std::vector<Spot> spots;
    for (int p = 0; p < 8; ++p) spots.push_back(at_core(p % 2 * 4 + p / 2));
    std::vector<Edge> edges;
    for (int r = 0; r < 8; r += 2) edges.push_back({r, r + 1, 10});
    const Order order = near_order(spots, 8, edges);
    expect_permutation(order);
    EXPECT_LT(cost_of(order, spots, edges), cost_of(same_order(8), spots, edges));
    for (int r = 0; r < 8; r += 2)
        EXPECT_EQ(spots[static_cast<size_t>(order[static_cast<size_t>(r)])].place.package,
                  spots[static_cast<size_t>(order[static_cast<size_t>(r) + 1])].place.package);
}

// A ring cut over two sockets crosses between them twice and no more.
TEST(Reorder, ARingCrossesTwice) {
    std::vector<Spot> spots;
    for (int p = 0; p < 8; ++p) spots.push_back(at_core(p % 2 * 4 + p / 2));
    std::vector<Edge> ring;
    for (int r = 0; r < 8; ++r) ring.push_back({r, (r + 1) % 8, 1});
    const Order order = near_order(spots, 8, ring);
    int crossings = 0;
    for (const Edge& e : ring)
        crossings += spots[static_cast<size_t>(order[static_cast<size_t>(e.from)])].place.package !=
                     spots[static_cast<size_t>(order[static_cast<size_t>(e.to)])].place.package;
    EXPECT_EQ(crossings, 2);
}

// The same cores on two hosts, and hosts of two clusters: each pair of ranks that talk gets one of them.
TEST(Reorder, HostsAndClustersAreFartherThanSockets) {
    for (const int clusters : {1, 2}) {
        std::vector<Spot> spots;
        for (int p = 0; p < 8; ++p) {
            Spot spot = at_core(p / 2);
            spot.node = p % 2;
            spot.cluster = p % clusters;
            spots.push_back(spot);
        }
        std::vector<Edge> edges;
        for (int r = 0; r < 8; r += 2) edges.push_back({r, r + 1, 1});
        const Order order = near_order(spots, 8, edges);
        expect_permutation(order);
        for (size_t r = 0; r < 8; r += 2)
            EXPECT_EQ(spots[static_cast<size_t>(order[r])].node,
                      spots[static_cast<size_t>(order[r + 1])].node);
    }
}

// A torus of 4 x 4 on two sockets of eight: growing alone leaves corners behind.
TEST(Reorder, ATorusIsCutInHalves) {
    std::vector<Spot> spots;
    for (uint16_t p = 0; p < 16; ++p) {
        const auto socket = static_cast<uint16_t>(p % 2);
        spots.push_back({0, 0, {socket, socket, socket, p, p, p}});
    }
    std::vector<Edge> torus;
    for (int r = 0; r < 16; ++r) {
        torus.push_back({r, r / 4 * 4 + (r + 1) % 4, 1});
        torus.push_back({r, (r + 4) % 16, 1});
    }
    const Order order = near_order(spots, 16, torus);
    expect_permutation(order);
    int crossings = 0;
    for (const Edge& e : torus)
        crossings += spots[static_cast<size_t>(order[static_cast<size_t>(e.from)])].place.package !=
                     spots[static_cast<size_t>(order[static_cast<size_t>(e.to)])].place.package;
    EXPECT_EQ(crossings, 8); // the least: two rows here, two there
}

TEST(Reorder, NobodyMovesForNothing) {
    const std::vector<Spot> unknown(6, {0, 0, nowhere});
    std::vector<Edge> edges{{0, 5, 1}, {1, 4, 1}};
    EXPECT_EQ(near_order(unknown, 6, edges), same_order(6));
    std::vector<Spot> good;
    for (int p = 0; p < 8; ++p) good.push_back(at_core(p));
    std::vector<Edge> line;
    for (int r = 0; r < 7; ++r) line.push_back({r, r + 1, 1});
    EXPECT_EQ(near_order(good, 8, line), same_order(8));
    EXPECT_EQ(near_order(good, 1, {}), same_order(1));
    EXPECT_TRUE(near_order(good, 0, {}).empty());
}

} // namespace
} // namespace zipmpi::core
