// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The simulation against formulas: exact numbers of messages, and times where they are known.
#include "core_simulation.hpp"
#include "network_simulation.hpp"
#include "virtual_launch.hpp"

#include <bit>
#include <gtest/gtest.h>

namespace zipmpi::sim {
namespace {

uint64_t rounds(int ranks) { return std::bit_width(static_cast<unsigned>(ranks - 1)); }

uint64_t doubling_messages(int ranks) {
    const unsigned core = std::bit_floor(static_cast<unsigned>(ranks));
    return core * rounds(static_cast<int>(core)) + 2 * (static_cast<unsigned>(ranks) - core);
}

SimulationResult simulate(const JobShape& shape, const VirtualJob::Call& call, double noise = 0,
                          uint64_t seed = 1) {
    VirtualJob job(shape);
    NetworkModel model = NetworkModel::from_parameters();
    model.noise = noise;
    model.seed = seed;
    const SimulationResult r = NetworkSimulation(model, job).run(call);
    EXPECT_EQ(r.unfinished, 0U);
    return r;
}

const int sizes[] = {2, 3, 64, 100, 1000, 4096};

TEST(Simulation, FlatMessageCounts) {
    for (const int n : sizes) {
        EXPECT_EQ(simulate({n, 1}, make_barrier()).messages, static_cast<uint64_t>(n) * rounds(n)) << n;
        EXPECT_EQ(simulate({n, 1}, make_allreduce(8)).messages, doubling_messages(n)) << n;
        EXPECT_EQ(simulate({n, 1}, make_broadcast(8)).messages, static_cast<uint64_t>(n) - 1) << n;
    }
}

TEST(Simulation, HierarchicalMessageCounts) {
    for (const int nodes : sizes)
        for (const int each : {2, 5, 16}) {
            const JobShape shape{nodes * each, each};
            const auto within = 2 * static_cast<uint64_t>(nodes) * static_cast<uint64_t>(each - 1);
            const auto n = static_cast<uint64_t>(nodes);
            const SimulationResult barrier = simulate(shape, make_barrier());
            EXPECT_EQ(barrier.messages, within + n * rounds(nodes)) << nodes << " x " << each;
            EXPECT_EQ(barrier.messages_between_nodes, n * rounds(nodes)) << nodes << " x " << each;
            const SimulationResult sum = simulate(shape, make_allreduce(8));
            EXPECT_EQ(sum.messages, within + doubling_messages(nodes)) << nodes << " x " << each;
            EXPECT_EQ(sum.bytes, 8 * sum.messages);
        }
}

TEST(Simulation, AllToAllSendsOneMessagePerPairOfNodes) {
    const SimulationResult r = simulate({320, 16}, make_alltoall(8));
    EXPECT_EQ(r.messages_between_nodes, 20U * 19U);
    EXPECT_EQ(r.messages, 20U * 19U + 2U * 20U * 15U);
}

// One message from each cluster to each other one, whatever its size; within a cluster as in a job of its
// own, except that results come from one member.
TEST(Simulation, MessagesBetweenClusters) {
    for (const int clusters : {2, 3, 8})
        for (const int nodes : {1, 2, 16}) {
            constexpr int each = 4;
            const JobShape shape{clusters * nodes * each, each, false, nodes};
            const auto c = static_cast<uint64_t>(clusters);
            const uint64_t within = 2 * c * static_cast<uint64_t>(nodes * each - 1);
            for (const VirtualJob::Call& call : {make_barrier(), make_allreduce(8)}) {
                const SimulationResult r = simulate(shape, call);
                EXPECT_EQ(r.intercluster_messages, c * (c - 1)) << clusters << " x " << nodes;
                EXPECT_EQ(r.messages, within + c * (c - 1)) << clusters << " x " << nodes;
            }
            const SimulationResult broadcast = simulate(shape, make_broadcast(8));
            EXPECT_EQ(broadcast.intercluster_messages, c - 1) << clusters << " x " << nodes;
            EXPECT_EQ(broadcast.messages, static_cast<uint64_t>(shape.ranks) - 1)
                << clusters << " x " << nodes;
            EXPECT_EQ(simulate(shape, make_alltoall(8)).intercluster_messages, c * (c - 1));
        }
}

// Every round of a dissemination barrier takes one message.
TEST(Simulation, TimeOfABarrier) {
    const NetworkModel model = NetworkModel::from_parameters();
    const double message = model.network.overhead + model.network.latency + model.node.overhead;
    for (const int n : sizes)
        EXPECT_NEAR(simulate({n, 1}, make_barrier()).ns, static_cast<double>(rounds(n)) * message, 1e-3) << n;
}

TEST(Simulation, DependsOnItsSeedOnly) {
    const JobShape shape{1000, 8};
    const double first = simulate(shape, make_barrier(), 0.5, 7).ns;
    EXPECT_EQ(simulate(shape, make_barrier(), 0.5, 7).ns, first);
    EXPECT_NE(simulate(shape, make_barrier(), 0.5, 8).ns, first);
    EXPECT_GT(first, simulate(shape, make_barrier()).ns);
}

CoreResult simulate_cores(const JobShape& shape, const CoreModel& model, const VirtualJob::Call& call) {
    VirtualJob job(shape);
    const NetworkModel network = NetworkModel::from_parameters();
    const CoreResult r = CoreSimulation(model, network, job).run(call);
    EXPECT_EQ(r.unfinished, 0U);
    return r;
}

// A single core is never idle: it handles all messages, and changes from rank to rank.
TEST(Simulation, OneCoreDoesAllTheWork) {
    const JobShape shape{64, 64};
    CoreModel model;
    model.cores = 1;
    model.call = model.wakeup = 0;
    const auto messages = static_cast<double>(simulate(shape, make_barrier()).messages);
    const CoreResult r = simulate_cores(shape, model, make_barrier());
    EXPECT_GT(r.changes, 64);
    EXPECT_NEAR(r.ns, 2 * messages * model.message + r.changes * model.change_of(shape), 1e-3);
}

TEST(Simulation, CoresShareTheWork) {
    const JobShape shape{64, 64};
    CoreModel model;
    const double two = simulate_cores(shape, model, make_barrier()).ns;
    model.cores = 1;
    const double one = simulate_cores(shape, model, make_barrier()).ns;
    EXPECT_LT(two, one);
    const JobShape hosts{64, 32}; // two cores each
    EXPECT_LT(simulate_cores(hosts, {}, make_barrier()).ns, two);
}

bool equal(const RankProgram& a, const RankProgram& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Action& x, const Action& y) {
        return x.kind == y.kind && x.peer == y.peer && x.bytes == y.bytes;
    });
}

// The hierarchy that virtual ranks share is that which each would have computed.
TEST(Simulation, RanksShareAHierarchy) {
    for (const int nodes_per_cluster : {0, 5}) {
        const JobShape shape{103, 8, false,
                             nodes_per_cluster}; // the last node has seven, the last cluster three nodes
        VirtualJob shared(shape);
        for (const VirtualJob::Call& call : {make_barrier(), make_allreduce(1 << 20), make_alltoall(8)})
            for (int r = 0; r < shape.ranks; ++r) {
                VirtualJob own(shape);
                RankMemory memory;
                EXPECT_TRUE(equal(shared.record(r, call, memory), own.record(r, call, memory))) << r;
            }
    }
}

TEST(Simulation, LaunchTree) {
    for (const int nodes : {2, 32, 33, 1000, 5000}) {
        const LaunchResult r = simulate_launch({nodes * 3, 3}, {}, NetworkModel::from_parameters());
        const auto n = static_cast<uint64_t>(nodes);
        EXPECT_EQ(r.frames, 3 * n) << "start request, fence in, fence out";
        EXPECT_EQ(r.pmi_replies, 3 * 3 * n + n) << "init, put, fence; an address for the first rank";
        EXPECT_EQ(r.addresses, n);
        EXPECT_LE(r.frame_bytes, n * 600 + 10 * n * r.depth * 2) << "no addresses in the fence";
        EXPECT_LE(r.most_children, 32U);
        EXPECT_EQ(r.depth, nodes <= 32 ? 1U : nodes <= 32 * 33 ? 2U : 3U);
        EXPECT_GT(r.fence_ns, r.ranks_ns);
    }
}

// The way from a node to the next: up to their common ancestor and down, and the reply back.
TEST(Simulation, AddressesOfNeighbors) {
    for (const int nodes : {2, 20, 32}) { // all daemons are children of mpiexec
        const LaunchResult r = simulate_launch({nodes * 3, 3}, {}, NetworkModel::from_parameters());
        EXPECT_EQ(r.address_frames, 4U * static_cast<unsigned>(nodes));
        EXPECT_EQ(r.address_frames_mpiexec, 2U * static_cast<unsigned>(nodes));
    }
    // Of 1000 nodes, 32 are children of mpiexec; the last node of each subtree, and the first ones, cross it.
    const LaunchResult r = simulate_launch({3000, 3}, {}, NetworkModel::from_parameters());
    EXPECT_LE(r.address_frames, 2U * 2U * r.depth * 1000U);
    EXPECT_EQ(r.address_frames_mpiexec, 2U * 32U);
}

TEST(Simulation, AgreementMessageCounts) {
    for (const int nodes : {1, 20, 32, 1000}) {
        for (const int share : {0, 10}) {
            const JobShape shape{nodes * 10, 10};
            const AgreementResult r = simulate_agreement(shape, share, {}, NetworkModel::from_parameters());
            const auto n = static_cast<uint64_t>(nodes);
            const uint64_t failed = share == 0 ? 0 : n;
            EXPECT_EQ(r.results, 1U);
            EXPECT_EQ(r.failed, failed);
            EXPECT_EQ(r.value, static_cast<uint32_t>(shape.ranks) - (share == 0 ? 1 : 2));
            const uint64_t top = std::min<uint64_t>(n, 32); // at depth 1; the others of 1000 nodes at depth 2
            const uint64_t failures_up = share == 0 ? 0 : top + 2 * (n - top);
            EXPECT_EQ(r.received, failed + top) << "each failure, and a contribution per child";
            EXPECT_EQ(r.frames_down, n * (failed == 0 ? 1 : 2))
                << "all failures and the result, to every daemon";
            EXPECT_EQ(r.frames_up, n + failures_up) << "a contribution per daemon";
        }
    }
}

} // namespace
} // namespace zipmpi::sim
