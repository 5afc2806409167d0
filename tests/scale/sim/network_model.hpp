// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What a message costs in the simulation, after LogGP: overhead of the CPU at both ends, latency, gap between
// messages of one sender, time per byte. Times in nanoseconds.
#pragma once

#include "proto/coll/cost.hpp"

#include <cstdint>

namespace zipmpi::sim {

struct LinkCosts {
    double overhead = 0;      // o, at the sender and at the receiver
    double latency = 0;       // L
    double gap = 0;           // g
    double byte = 0;          // G
    uint64_t eager_limit = 0; // above, the sender waits for the receiver
};

struct NetworkModel {
    LinkCosts node;     // between ranks of a node
    LinkCosts network;  // between nodes of a cluster
    double combine = 0; // per byte of a reduction
    double noise = 0;   // the latency of a message grows by up to this share of it, at random
    uint64_t seed = 1;
    // Between clusters: assumed, a network of a few hundred kilometers with 10 Gbit/s, in nanoseconds.
    LinkCosts clusters{4e3, 2e6, 4e3, 0.8, 64 << 10};

    // An empty message takes as long as the cost model of the library says: a quarter of it at each end.
    static LinkCosts from(const proto::coll::CostModel& costs, uint64_t eager_limit) {
        return {costs.message / 4, costs.message / 2, costs.message / 4, costs.byte, eager_limit};
    }
    // With the constants of the library: parameters coll.cost_*.
    static NetworkModel from_parameters() {
        const proto::coll::CostModel node = proto::coll::node_cost_model();
        constexpr uint64_t node_eager = 16 << 10;
        constexpr uint64_t network_eager = 64 << 10;
        return {from(node, node_eager), from(proto::coll::network_cost_model(), network_eager), node.combine};
    }
    // A number in [0, 1) that depends on the seed and the message, not on the order of the simulation.
    [[nodiscard]] double random(uint64_t message) const {
        uint64_t x = seed * 0x9e3779b97f4a7c15U + message; // splitmix64
        x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
        x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
        return static_cast<double>((x ^ (x >> 31U)) >> 11U) * 0x1p-53;
    }
};

} // namespace zipmpi::sim
