// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A gateway and a rank over the loopback interface; the engine that carries their offers is a function call.
#include "transport/tcp/stream_manager.hpp"

#include <array>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <sys/eventfd.h>
#include <unistd.h>

namespace zipmpi::transport::tcp {
namespace {

using Key = std::array<uint8_t, wire::key_bytes>;
using Bytes = std::vector<std::byte>;

constexpr Key key{1, 2, 3};
constexpr Key other_key{1, 2, 4};

Bytes frame_of(size_t data, uint64_t sequence) {
    Bytes bytes(sizeof(wire::Frame) + data);
    wire::Frame f{};
    f.magic = wire::frame_magic;
    f.type = wire::FrameType::chunk;
    f.sequence = sequence;
    f.bytes = static_cast<uint32_t>(data);
    std::memcpy(bytes.data(), &f, sizeof f);
    for (size_t i = sizeof f; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 31 + sequence);
    return bytes;
}

// One process with one peer, of index 0.
class Process final : public StreamPeers, public FrameListener {
  public:
    Process(int id, int peer_id, const Key& job_key, const FrameConfig& config)
        : peer_id_(peer_id)
        , key_(job_key)
        , manager(id, {key_, key_}, with_listener(config), *this, counters) {
        EXPECT_TRUE(engine_ && manager.open(engine_.get(), "lo"));
    }

    [[nodiscard]] int id_of(Peer) const override { return peer_id_; }
    [[nodiscard]] int find(int id) const override { return id == peer_id_ ? 0 : -1; }
    [[nodiscard]] bool has_failed(Peer) const override { return false; }
    [[nodiscard]] bool can_receive(Peer) const override { return true; }
    void send_offer(Peer, std::span<const std::byte> bytes) override {
        wire::StreamOffer offer{};
        ASSERT_EQ(bytes.size(), sizeof offer);
        std::memcpy(&offer, bytes.data(), sizeof offer);
        ++offers;
        last_offer = offer;
        if (partner != nullptr) partner->manager.accept_offer(0, offer);
    }
    bool frame_arrived(const FrameArrival& frame) override {
        EXPECT_EQ(frame.id, peer_id_);
        Bytes whole(frame.head.begin(), frame.head.end());
        FrameBuffer* const buffer = spliced_buffer(frame_buffer_of(frame.descriptor));
        EXPECT_TRUE(buffer == nullptr || buffer->read_spliced(frame.data.size()));
        whole.insert(whole.end(), frame.data.begin(), frame.data.end());
        arrived.push_back(std::move(whole));
        return false;
    }
    void frame_sent(FrameTicket*) override { ++frames_sent; }
    void peer_connected(Peer, int id) override {
        EXPECT_EQ(id, peer_id_);
        ++reconnects;
    }
    void poll() {
        counters.events = 0;
        ++counters.poll_id;
        manager.flush();
        manager.poll();
    }

  private:
    FrameConfig with_listener(FrameConfig config) {
        config.listener = this;
        return config;
    }

    int peer_id_;
    Key key_;
    os::Fd engine_{eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};

  public:
    PollCounters counters;
    StreamManager manager;
    Process* partner = nullptr;
    wire::StreamOffer last_offer{};
    int offers = 0, frames_sent = 0, reconnects = 0;
    std::vector<Bytes> arrived;
};

class Pair : public testing::Test {
  protected:
    void start(const Key& key_of_rank) {
        gateway = std::make_unique<Process>(10, 3, key, FrameConfig{nullptr, true, true});
        rank = std::make_unique<Process>(3, 10, key_of_rank, FrameConfig{nullptr, true, false});
        gateway->partner = rank.get();
        rank->partner = gateway.get();
        gateway->manager.offer(0);
    }
    template <class Done>
    bool poll_until(Done done) {
        for (int i = 0; i < 20000 && !done(); ++i) {
            gateway->poll();
            rank->poll();
            if (i > 1000) usleep(100);
        }
        return done();
    }
    bool connect() {
        return poll_until([this] { return gateway->manager.has_stream(0) && rank->manager.has_stream(0); });
    }
    std::unique_ptr<Process> gateway, rank;
};

TEST_F(Pair, OfferBecomesAStreamThatCarriesFrames) {
    start(key);
    EXPECT_FALSE(rank->manager.is_ready(0));
    ASSERT_TRUE(connect());
    EXPECT_TRUE(rank->manager.is_ready(0));
    std::vector<Bytes> sent;
    int in_flight = 0;
    FrameTicket ticket;
    for (uint64_t i = 0; i < 50; ++i) {
        sent.push_back(frame_of(i % 3 == 0 ? 100 : wire::frame_chunk, i));
        const std::span all(sent.back());
        const std::span head = all.first(sizeof(wire::Frame));
        const PostStatus posted = i % 3 == 0 ? rank->manager.batch(0, head, all.subspan(head.size()))
                                             : rank->manager.send(0, head, all.subspan(head.size()), &ticket);
        ASSERT_NE(posted, PostStatus::failed);
        in_flight += posted == PostStatus::in_flight ? 1 : 0;
    }
    EXPECT_TRUE(poll_until([&] { return gateway->arrived.size() == sent.size(); }));
    EXPECT_TRUE(gateway->arrived == sent);
    EXPECT_TRUE(poll_until([&] { return rank->manager.idle(); }));
    EXPECT_EQ(rank->frames_sent, in_flight);
    EXPECT_EQ(gateway->counters.rejected_messages + rank->counters.rejected_messages, 0U);
}

TEST_F(Pair, ClosedStreamIsOfferedAgain) {
    start(key);
    ASSERT_TRUE(connect());
    rank->manager.reset(0);
    EXPECT_FALSE(rank->manager.has_stream(0));
    ASSERT_TRUE(poll_until([this] { return gateway->offers == 2; }));
    EXPECT_TRUE(connect());
    EXPECT_EQ(rank->reconnects, 0); // the rank closed it itself
    gateway->partner = nullptr;
    gateway->manager.reset(0);
    EXPECT_TRUE(poll_until([this] { return rank->reconnects == 1; }));
}

TEST_F(Pair, WrongKeyIsRejected) {
    start(other_key);
    EXPECT_TRUE(poll_until([this] { return gateway->counters.rejected_messages == 1; }));
    EXPECT_FALSE(gateway->manager.has_stream(0));
    EXPECT_FALSE(rank->manager.has_stream(0));
}

TEST_F(Pair, TokenIsValidForOneConnection) {
    start(key);
    ASSERT_TRUE(connect());
    const wire::StreamOffer used = gateway->last_offer;
    gateway->partner = nullptr;
    gateway->manager.reset(0);
    rank->manager.accept_offer(0, used);
    EXPECT_TRUE(poll_until([this] { return gateway->counters.rejected_messages == 1; }));
    EXPECT_FALSE(gateway->manager.has_stream(0));
    EXPECT_FALSE(rank->manager.has_stream(0));
}

TEST_F(Pair, OfferWithoutPortDecidesOnTheEngine) {
    start(key);
    ASSERT_TRUE(connect());
    rank->manager.accept_offer(0, {});
    EXPECT_FALSE(rank->manager.has_stream(0));
    EXPECT_TRUE(rank->manager.is_ready(0));
}

} // namespace
} // namespace zipmpi::transport::tcp
