// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gateway/forwarder.hpp"

#include "bridge/frame.hpp"
#include "bridge/gateway_settings.hpp"
#include "gateway/test_networks.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace zipmpi::gateway {
namespace {

using transport::Batching;
using transport::FrameTicket;

constexpr int ranks = 2;
constexpr uint64_t job = 77;
constexpr std::array<uint8_t, wire::key_bytes> key{1, 2, 3};

// Records what is sent; peers are as they are numbered: by id.
class RecordingNetwork final : public StubNetwork {
  public:
    struct Sent {
        wire::Frame frame;
        int to;
    };
    using StubNetwork::StubNetwork;
    void arrive(int from, wire::Frame frame, size_t bytes) {
        frame.bytes = static_cast<uint32_t>(bytes);
        bridge::finalize(frame);
        const std::vector<std::byte> data(bytes);
        listener_.frame_arrived(
            {static_cast<Peer>(from), from, std::as_bytes(std::span(&frame, 1)), data, nullptr});
    }
    void connect(int id) {
        connected.push_back(id);
        listener_.peer_connected(static_cast<Peer>(id), id);
    }
    uint64_t sent_to(int id, wire::FrameType type) const {
        return static_cast<uint64_t>(
            std::ranges::count_if(sent, [&](const Sent& s) { return s.to == id && s.frame.type == type; }));
    }
    uint64_t credit_of(int id) const {
        uint64_t bytes = 0;
        for (const Sent& s : sent)
            if (s.to == id && s.frame.type == wire::FrameType::credit) bytes += s.frame.length;
        return bytes;
    }

    PostStatus send_frame(Peer peer, std::span<const std::byte> head, std::span<const std::byte>,
                          FrameTicket*, Batching) override {
        const int to = static_cast<int>(peer);
        if (std::ranges::count(connected, to) == 0) return PostStatus::would_block;
        Sent& s = sent.emplace_back();
        std::memcpy(&s.frame, head.data(), sizeof s.frame);
        s.to = to;
        return PostStatus::done;
    }
    void reset_peer(Peer peer) override { std::erase(connected, static_cast<int>(peer)); }
    std::vector<int> connected;
    std::vector<Sent> sent;
};

constexpr auto& networks = TestNetworks<RecordingNetwork>::networks;
constexpr auto& listeners = TestNetworks<RecordingNetwork>::listeners;

// Rank 0 is in cluster 0, rank 1 in cluster 1, the gateway in both.
class ForwarderTest : public testing::Test {
  protected:
    ForwarderTest() {
        std::string why;
        for (int cluster : {0, 1}) EXPECT_TRUE(forwarder.open(cluster, std::to_string(cluster), book, why));
        networks[0]->connect(0);
    }
    static GatewayConfig config() {
        bridge::ClusterMap map;
        map.clusters = {{"a"}, {"b"}};
        map.nodes = {{{0}}, {{1}}};
        bridge::GatewaySpec& spec = map.gateways.emplace_back();
        spec.attached = {{0, ""}, {1, ""}};
        return {map, 0, ranks, job, 1 << 20, [](int rank) { return rank; }, key};
    }
    static wire::Frame chunk() {
        wire::Frame frame{};
        frame.type = wire::FrameType::chunk;
        frame.hops = wire::frame_hops;
        frame.job = job;
        frame.from = 0;
        frame.to = 1;
        return frame;
    }
    static void arrive_chunk(size_t bytes) { networks[0]->arrive(0, chunk(), bytes); }
    void lose_receiver() {
        listeners[1]->peer_failed(1, "");
        forwarder.progress(PollScope::all);
    }
    uint64_t buffered() const { return stats.totals.buffered_bytes.load(); }
    uint64_t waiting() const { return stats.totals.waiting.load(); }

    GatewayStats stats;
    NoAddresses book;
    Forwarder forwarder{config(), stats};
};

TEST_F(ForwarderTest, FramesWaitForTheirReceiver) {
    arrive_chunk(wire::frame_chunk);
    EXPECT_EQ(waiting(), 1U);
    EXPECT_GT(buffered(), wire::frame_chunk);
    networks[1]->connect(1);
    EXPECT_EQ(networks[1]->sent_to(1, wire::FrameType::chunk), 1U);
    EXPECT_EQ(waiting(), 0U);
    EXPECT_EQ(buffered(), 0U);
    EXPECT_EQ(stats.totals.dropped.load(), 0U);
}

// Otherwise they would take credit of their sender until the receiver connects, perhaps never.
TEST_F(ForwarderTest, FramesForFailedReceiverAreDroppedAndCredited) {
    const uint64_t frames = bridge::endpoint_limits().path_bytes / wire::frame_chunk;
    for (uint64_t i = 0; i < frames; ++i) arrive_chunk(wire::frame_chunk);
    EXPECT_EQ(waiting(), frames);
    EXPECT_EQ(networks[0]->credit_of(0), 0U);
    lose_receiver();
    EXPECT_EQ(waiting(), 0U);
    EXPECT_EQ(buffered(), 0U);
    EXPECT_EQ(stats.totals.dropped.load(), frames);
    EXPECT_EQ(stats.network(1).dropped.load(), frames);
    EXPECT_GE(networks[0]->credit_of(0), frames * wire::frame_chunk * 3 / 4); // the rest with later frames
}

TEST_F(ForwarderTest, FramesAfterAFailureWaitForTheNextConnection) {
    arrive_chunk(100);
    lose_receiver();
    arrive_chunk(100);
    EXPECT_EQ(waiting(), 1U);
    networks[1]->connect(1);
    EXPECT_EQ(networks[1]->sent_to(1, wire::FrameType::chunk), 1U);
}

TEST_F(ForwarderTest, ReceiverThatConnectsAgainGetsWhatWaits) {
    arrive_chunk(100);
    listeners[1]->peer_failed(1, "");
    networks[1]->connect(1);
    forwarder.progress(PollScope::all);
    EXPECT_EQ(networks[1]->sent_to(1, wire::FrameType::chunk), 1U);
    EXPECT_EQ(stats.totals.dropped.load(), 0U);
}

TEST_F(ForwarderTest, RanksSendOnlyTheirOwnFrames) {
    networks[1]->connect(1);
    wire::Frame forged = chunk();
    forged.from = 1;
    networks[0]->arrive(0, forged, 100);
    EXPECT_EQ(stats.totals.rejected.load(), 1U);
    EXPECT_TRUE(networks[1]->sent.empty());
}

TEST_F(ForwarderTest, FramesWithoutHopsOrReceiverAreDropped) {
    networks[1]->connect(1);
    wire::Frame last = chunk();
    last.hops = 0;
    networks[0]->arrive(0, last, 100);
    wire::Frame unknown = chunk();
    unknown.to = ranks;
    networks[0]->arrive(0, unknown, 100);
    EXPECT_EQ(stats.totals.dropped.load(), 2U);
    EXPECT_TRUE(networks[1]->sent.empty());
}

// A gateway may state any sender, also one whose number overflows in the choice of the next hop.
TEST_F(ForwarderTest, FramesOfNoRankAreDropped) {
    networks[1]->connect(1);
    wire::Frame forged = chunk();
    for (const int from : {ranks, INT32_MAX}) {
        forged.from = from;
        networks[0]->arrive(ranks + 1, forged, 100);
    }
    EXPECT_EQ(stats.totals.dropped.load(), 2U);
    EXPECT_TRUE(networks[1]->sent.empty());
}

TEST_F(ForwarderTest, HeartbeatsAreReturned) {
    wire::Frame heartbeat = chunk();
    heartbeat.type = wire::FrameType::heartbeat;
    heartbeat.sequence = 5;
    networks[0]->arrive(0, heartbeat, 0);
    ASSERT_EQ(networks[0]->sent_to(0, wire::FrameType::heartbeat), 1U);
    const wire::Frame& reply = networks[0]->sent.back().frame;
    EXPECT_EQ(reply.flags, wire::frame_reply);
    EXPECT_EQ(reply.sequence, 5U);
    networks[0]->arrive(0, reply, 0); // a reply has none; and this one is not from the rank
    EXPECT_EQ(networks[0]->sent_to(0, wire::FrameType::heartbeat), 1U);
}

} // namespace
} // namespace zipmpi::gateway

// The networks of the gateway, replaced.
namespace zipmpi::transport {

std::unique_ptr<FrameNetwork> open_network(const NetworkConfig& settings, const FrameConfig& frames,
                                           std::string& /*why*/) {
    return gateway::TestNetworks<gateway::RecordingNetwork>::open(settings, frames);
}

} // namespace zipmpi::transport
