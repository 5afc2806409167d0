// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Endpoints over paths with and without faults, simulated in endpoint_simulation.hpp.
#include "bridge/endpoint_simulation.hpp"

#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <utility>

namespace zipmpi::bridge::simulation {
namespace {

unsigned run_seed() {
    const char* given = std::getenv("BRIDGE_TEST_SEED");
    const unsigned seed = given != nullptr ? static_cast<unsigned>(std::atoi(given)) : std::random_device{}();
    std::printf("seed %u (repeat with BRIDGE_TEST_SEED=%u)\n", seed, seed);
    return seed;
}

// A network that keeps all data of frames.
class HoldingIo final : public EndpointIo {
  public:
    PostStatus send(int, std::span<const std::byte>, std::span<const std::byte> data,
                    FrameTicket* ticket) override {
        if (ticket == nullptr || data.empty()) return PostStatus::done;
        held.push_back(ticket);
        return PostStatus::in_flight;
    }
    void close_path(int) override {}
    void revoke_buffer(std::span<const std::byte>) override {}
    [[nodiscard]] bool is_relayed(int id) const override { return id == 1; }
    [[nodiscard]] std::vector<int> paths_to(int) const override { return {0}; }
    [[nodiscard]] uint64_t now_ns() const override { return clock_ns; }

    std::vector<FrameTicket*> held;
};

class EventCount final : public transport::NetworkListener {
  public:
    void message_arrived(const transport::Arrival&) override {}
    void rts_arrived(const transport::Arrival&, transport::IncomingBulk&, uint64_t) override { ++announced; }
    void send_finished(NetworkOperation*, OpStatus outcome) override {
        failed += outcome == OpStatus::failed ? 1 : 0;
    }
    void fetch_finished(NetworkOperation*, OpStatus) override {}
    void peer_failed(Peer, const char*) override {}
    void pack(NetworkOperation*, uint64_t, std::byte*, size_t) override {}
    void unpack(NetworkOperation*, uint64_t, const std::byte*, size_t) override {}
    size_t list_iov(NetworkOperation*, iovec*, size_t) override { return 0; }

    int failed = 0;
    int announced = 0;
};

// Path and peer have failed, but the network still uses the memory: the send ends when the network releases
// it.
TEST(Endpoint, AbandonedSendEndsWhenNetworkReleasesMemory) {
    HoldingIo io;
    EventCount listener;
    Endpoint endpoint({0, job, 1, Side::limits()}, listener, io);
    endpoint.path_up(0);
    std::vector<std::byte> data(1 << 20);
    const wire::Envelope e{wire::MessageKind::rts, 0, 0, 0, 3, 0, 1, 0};
    NetworkOperation operation;
    ASSERT_EQ(endpoint.send_chunked(endpoint.flow(1), e, nullptr, {data.data(), data.size(), &operation}),
              PostStatus::in_flight);
    endpoint.advance();
    ASSERT_FALSE(io.held.empty());
    endpoint.path_down(0);
    endpoint.fail_peer(1);
    EXPECT_EQ(listener.failed, 0);
    for (FrameTicket* const ticket : std::exchange(io.held, {})) endpoint.on_frame_sent(ticket);
    EXPECT_EQ(listener.failed, 1);
}

// The first frame of a long message of rank `from` to rank 0.
std::vector<std::byte> first_frame(int from, uint64_t length) {
    const wire::MessageHead head{wire::MessageKind::rts, 0, 0, 1, from, 0};
    wire::Frame frame{};
    frame.type = wire::FrameType::message;
    frame.length = length;
    FrameCodec codec(from, job);
    Flow flow;
    flow.world_rank = 0;
    FrameBytes out{};
    FrameCodec::FrameParts parts{frame, nullptr, std::as_bytes(std::span(&head, 1)), {}, nullptr};
    EXPECT_TRUE(codec.build(flow, 0, parts, out));
    return {out.all().begin(), out.all().end()};
}

// The length in a frame is only a claim: nothing is reserved for it.
TEST(Endpoint, StatedLengthCostsNoMemory) {
    HoldingIo io;
    EventCount listener;
    Endpoint endpoint({0, job, 1, Side::limits()}, listener, io);
    endpoint.path_up(0);
    endpoint.on_frame(0, first_frame(1, wire::frame_length_max), {});
    EXPECT_EQ(listener.announced, 1);
}

TEST(Endpoint, FramesOfOthersThanRelayedRanksAreRejected) {
    HoldingIo io;
    EventCount listener;
    Endpoint endpoint({0, job, 1, Side::limits()}, listener, io);
    endpoint.path_up(0);
    for (const int from : {0, 2, INT32_MAX}) endpoint.on_frame(0, first_frame(from, 1), {});
    EXPECT_EQ(listener.announced, 0);
    EXPECT_EQ(endpoint.counters().rejected, 3U);
}

TEST(ChunkSet, AgreesWithListOfChunks) {
    std::mt19937 random(5);
    ChunkSet set;
    constexpr uint64_t total = 1000;
    set.set_total(total);
    std::vector<bool> have(total);
    while (!set.complete()) {
        const uint64_t chunk = std::min<uint64_t>(set.next() + random() % 80, total - 1);
        EXPECT_EQ(set.accepts(chunk), chunk - set.next() <= ChunkSet::ahead_max);
        ASSERT_EQ(set.contains(chunk), have[chunk]);
        if (!set.accepts(chunk) || have[chunk]) continue;
        set.insert(chunk);
        have[chunk] = true;
        for (uint64_t i = 0; i < set.next(); ++i) ASSERT_TRUE(have[i]);
        ASSERT_TRUE(set.complete() || !have[set.next()]);
    }
    EXPECT_FALSE(set.accepts(total));
}

TEST(Endpoint, ReliablePaths) {
    Simulation world(1, {});
    EXPECT_TRUE(world.run(200));
    EXPECT_EQ(world.sides[0]->endpoint().counters().duplicates, 0U);
    EXPECT_EQ(world.sides[0]->endpoint().counters().retransmitted, 0U);
}

TEST(Endpoint, OneSideExitsFirst) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        Simulation world(seed, {});
        for (int i = 0; i < 20; ++i) world.sides[1]->begin(i % 2 == 0 ? 8 : 300000);
        while (world.sides[0]->arrived < 20) world.step();
        EXPECT_TRUE(world.shut_down()) << "seed " << seed;
    }
}

// The end of a job waits for this: one round trip to the gateway, no heartbeat interval.
TEST(Endpoint, ShutdownProbesImmediately) {
    Simulation world(1, {});
    Endpoint& leaves = world.sides[0]->endpoint();
    leaves.begin_shutdown();
    world.sides[1]->begin(8);
    while (world.sides[0]->arrived < 1) world.step();
    leaves.flush_before_sleep();
    EXPECT_FALSE(leaves.idle());
    const uint64_t begin = clock_ns;
    while (!leaves.idle() && clock_ns - begin < 5'000 * us) world.step();
    EXPECT_LT(clock_ns - begin, 200 * us);
}

// A receive-only side has nothing in flight whose acknowledgement it would miss.
TEST(Endpoint, PathThatLosesAcksIsDetected) {
    Simulation world(1, {});
    for (bool& path : world.stopped[1]) path = &path == world.stopped[1];
    const uint64_t begin = clock_ns;
    for (int i = 0; i < 20; ++i) world.sides[0]->begin(i % 2 == 0 ? 8 : 300000);
    while (!world.sides[0]->finished() && clock_ns - begin < 1'000'000 * us) world.step();
    EXPECT_LT(clock_ns - begin, 100'000 * us);
    EXPECT_GT(world.sides[1]->endpoint().counters().paths_lost, 0U);
}

// One side detects it; the other, which then receives on another path, does not have to.
TEST(Endpoint, PartitionedPathIsNotUsedForReplies) {
    Simulation world(1, {});
    for (const auto& side : world.sides) side->begin(0);
    while (!world.sides[0]->finished() || !world.sides[1]->finished()) world.step();
    for (int path = 0; path < paths - 1; ++path) world.partitioned[path] = true;
    clock_ns += 10'000 * us;
    world.sides[0]->begin(0);
    while (world.sides[1]->arrived < 2) world.step();
    const uint64_t begin = clock_ns;
    world.sides[1]->begin(0);
    while (world.sides[0]->arrived < 2) world.step();
    EXPECT_LT(clock_ns - begin, 1'000 * us);
    while (clock_ns - begin < 25'000 * us) world.step();
    EXPECT_EQ(world.sides[1]->endpoint().counters().paths_lost, 2U);
}

// The clusters are separated for good; the peer has its message.
TEST(Endpoint, AcknowledgmentThatCannotBeSentDelaysShutdownForLimitedTime) {
    Simulation world(1, {});
    Endpoint& leaves = world.sides[0]->endpoint();
    world.sides[1]->begin(8);
    while (world.sides[0]->arrived < 1) world.step();
    for (int path = 0; path < paths; ++path) leaves.path_down(path);
    leaves.begin_shutdown();
    leaves.flush_before_sleep();
    EXPECT_FALSE(leaves.idle());
    EXPECT_GE(leaves.next_deadline_ns(), clock_ns + Side::limits().heartbeat_ns); // it sleeps meanwhile
    const uint64_t timeout = Side::limits().partition_timeout_ns;
    clock_ns += timeout - 1000 * us;
    leaves.advance();
    EXPECT_FALSE(leaves.idle());
    clock_ns += 10'000 * us;
    leaves.advance();
    leaves.flush_before_sleep();
    EXPECT_TRUE(leaves.idle());
}

// Those that side 0 has sent.
void lose_frames(Simulation& world) {
    for (auto& wire : world.wires[0]) wire.frames.clear();
}

// The only path fails and returns at once, before anyone waits for a partition to end.
TEST(Endpoint, AcknowledgmentWithoutPathIsSentWhenOneReturns) {
    Simulation world(1, {});
    Endpoint& receives = world.sides[0]->endpoint();
    world.sides[1]->begin(8);
    while (world.sides[0]->arrived < 1) world.step();
    for (int path = 0; path < paths; ++path) receives.path_down(path);
    receives.flush_before_sleep();
    lose_frames(world);
    clock_ns += 1000 * us;
    receives.path_up(0);
    EXPECT_FALSE(world.wires[0][0].frames.empty());
}

// Its frame is lost with each path, and once more beyond a live one.
TEST(Endpoint, LossOfPathsDoesNotDelayLaterRetransmissions) {
    Simulation world(1, {});
    const auto send_and_lose = [&] {
        world.sides[0]->work();
        lose_frames(world);
    };
    Endpoint& sends = world.sides[0]->endpoint();
    world.sides[0]->begin(8);
    send_and_lose();
    for (int i = 0; i < 5 * paths; ++i) {
        sends.path_down(i % paths);
        sends.path_up(i % paths);
        send_and_lose();
    }
    EXPECT_GE(sends.counters().retransmitted, 5U);
    const uint64_t begin = clock_ns;
    const uint64_t limit = 2 * Side::limits().retransmit_ns;
    while (world.sides[1]->arrived < 1 && clock_ns - begin < limit) world.step();
    EXPECT_EQ(world.sides[1]->arrived, 1U);
}

TEST(Endpoint, BestEffortFramesDoNotDelayShutdown) {
    Simulation world(1, {});
    ASSERT_TRUE(world.shut_down());
    Endpoint& stays = world.sides[1]->endpoint();
    const wire::Envelope notice{wire::MessageKind::context_release, 0, 0, 0, 0, 1, 0, 0};
    EXPECT_EQ(stays.send(stays.flow(0), notice, nullptr, {}), PostStatus::done);
    stays.cancel_shutdown();
    EXPECT_FALSE(stays.idle());
    stays.begin_shutdown();
    EXPECT_TRUE(stays.idle());
}

TEST(Endpoint, UnreliablePaths) {
    const unsigned seed = run_seed();
    for (unsigned i = 0; i < 2; ++i) {
        Simulation world(seed + i, {0.02, 0.05, 0.3, 0.01});
        EXPECT_TRUE(world.run(120)) << "seed " << seed + i;
        EXPECT_LE(world.max_retained, uint64_t{20} << 20);
    }
}

TEST(Endpoint, PathsThatChangeBytes) {
    const unsigned seed = run_seed();
    FaultRates flaws{0.01, 0.02, 0.1, 0.01};
    flaws.sealed = true;
    flaws.changed = 0.02;
    Simulation world(seed, flaws);
    EXPECT_TRUE(world.run(120)) << "seed " << seed;
    EXPECT_GT(world.sides[0]->endpoint().counters().rejected + world.sides[1]->endpoint().counters().rejected,
              0U);
}

// Without encryption: a defective gateway or network card changes bytes after the checksum of TCP was
// verified.
TEST(Endpoint, ChangedBytesAreDetectedWithoutEncryption) {
    const unsigned seed = run_seed();
    FaultRates flaws{0.01, 0.02, 0.1, 0.01};
    flaws.changed = 0.02;
    Simulation world(seed, flaws);
    EXPECT_TRUE(world.run(120)) << "seed " << seed;
    EXPECT_GT(world.sides[0]->endpoint().counters().rejected + world.sides[1]->endpoint().counters().rejected,
              0U);
}

TEST(Endpoint, FailingPaths) {
    const unsigned seed = run_seed();
    for (unsigned i = 0; i < 2; ++i) {
        Simulation world(seed + i, {0, 0, 0, 0.05});
        EXPECT_TRUE(world.run(120)) << "seed " << seed + i;
    }
}

} // namespace
} // namespace zipmpi::bridge::simulation
