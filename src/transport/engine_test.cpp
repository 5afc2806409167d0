// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The network engines: two processes of a job in one, and both networks communicate over the loopback
// interface.
#include "os/crypto_module.hpp"
#include "transport/tcp/frame_stream.hpp"
#include "transport/tcp_engine/tcp_network.hpp"
#include "transport/ucx/ucx_module.hpp"
#include "wire/frame_layout.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <sys/socket.h>
#include <unistd.h>

namespace zipmpi::transport {
namespace {

using Key = std::array<uint8_t, wire::key_bytes>;
using Bytes = std::vector<std::byte>;

constexpr Key key{1, 2, 3};

// An operation on every second byte of its memory.
struct StridedOperation : NetworkOperation {
    Bytes memory;
};

enum class Kind { ucx, tcp, tcp_auth, tcp_full };

std::unique_ptr<FrameNetwork> open_engine(Kind kind, const NetworkConfig& config, const FrameConfig& frames,
                                          std::string& why) {
    if (kind == Kind::ucx) return std::unique_ptr<FrameNetwork>(ucx::open_for_frames(config, frames, why));
    stream::Sealing sealing;
    if (kind != Kind::tcp)
        sealing = {os::load_crypto(why),
                   kind == Kind::tcp_full ? RecordText::encrypted : RecordText::readable};
    auto network = std::make_unique<tcp_engine::TcpNetwork>(config, frames, sealing);
    return network->start(config.devices, why) ? std::move(network) : nullptr;
}

class Process final : public NetworkListener, public FrameListener, public AddressResolver {
  public:
    void open(Kind kind, int rank, FrameConfig frame_config, const Key& job_key = key) {
        frame_config.listener = this;
        NetworkConfig config{rank, {job_key, job_key}};
        config.devices = "lo";
        config.detect_from = detect_from;
        config.listener = this;
        config.resolver = this;
        std::string why;
        network = open_engine(kind, config, frame_config, why);
        ASSERT_NE(network, nullptr) << why;
    }

    std::string find(int) override { return partner->network->address(); }
    void message_arrived(const Arrival& message) override {
        tags.push_back(message.envelope.tag);
        data.emplace_back(message.bulk, message.bulk + message.bulk_bytes);
        payload.assign(reinterpret_cast<const char*>(message.payload), message.envelope.inline_bytes);
    }
    void rts_arrived(const Arrival& message, IncomingBulk& bytes, uint64_t length) override {
        tags.push_back(message.envelope.tag);
        bulk = &bytes;
        bulk_bytes = length;
    }
    void send_finished(NetworkOperation*, OpStatus outcome) override {
        ++(outcome == OpStatus::done ? sent : failed);
    }
    void fetch_finished(NetworkOperation*, OpStatus outcome) override {
        ++(outcome == OpStatus::done ? fetched : failed);
    }
    void peer_failed(Peer, const char*) override { ++peer_failures; }
    void connection_lost(Peer, const char*) override { ++lost_connections; }
    void pack(NetworkOperation* operation, uint64_t offset, std::byte* to, size_t bytes) override {
        const Bytes& memory = static_cast<StridedOperation*>(operation)->memory;
        for (size_t i = 0; i < bytes; ++i) to[i] = memory[2 * (offset + i)];
    }
    void unpack(NetworkOperation* operation, uint64_t offset, const std::byte* from, size_t bytes) override {
        Bytes& memory = static_cast<StridedOperation*>(operation)->memory;
        for (size_t i = 0; i < bytes; ++i) memory[2 * (offset + i)] = from[i];
    }
    size_t list_iov(NetworkOperation*, iovec*, size_t) override { return 0; }
    bool frame_arrived(const FrameArrival& frame) override {
        if (tcp::FrameBuffer* const buffer = network->spliced(frame.descriptor); buffer != nullptr) {
            EXPECT_TRUE(buffer->read_spliced(frame.data.size()));
        }
        Bytes whole(frame.head.begin(), frame.head.end());
        whole.insert(whole.end(), frame.data.begin(), frame.data.end());
        frames.push_back(std::move(whole));
        if (!keeps_frames || frame.descriptor == nullptr) return false;
        kept = frame.descriptor;
        return true;
    }
    void frame_sent(FrameTicket*) override { ++frames_sent; }
    void peer_connected(Peer, int) override { ++connections; }

    std::unique_ptr<FrameNetwork> network;
    Process* partner = nullptr;
    std::vector<int> tags;
    std::vector<Bytes> data;
    std::vector<Bytes> frames;
    std::string payload;
    IncomingBulk* bulk = nullptr;
    uint64_t bulk_bytes = 0;
    void* kept = nullptr;
    bool keeps_frames = false;
    int detect_from = 0;
    int sent = 0, fetched = 0, failed = 0, frames_sent = 0, connections = 0, peer_failures = 0,
        lost_connections = 0;
};

wire::Envelope envelope_of(int tag, size_t payload = 0) {
    wire::Envelope e{};
    e.kind = wire::MessageKind::eager;
    e.tag = tag;
    e.inline_bytes = static_cast<uint8_t>(payload);
    return e;
}

Bytes pattern(size_t bytes, size_t seed) {
    Bytes b(bytes);
    for (size_t i = 0; i < bytes; ++i) b[i] = static_cast<std::byte>(i * 7 + seed);
    return b;
}

Bytes frame_of(size_t data, uint64_t sequence) {
    Bytes bytes = pattern(sizeof(wire::Frame) + data, sequence);
    wire::Frame f{};
    f.magic = wire::frame_magic;
    f.type = wire::FrameType::chunk;
    f.sequence = sequence;
    f.bytes = static_cast<uint32_t>(data);
    std::memcpy(bytes.data(), &f, sizeof f);
    return bytes;
}

class EnginePair : public testing::TestWithParam<Kind> {
  protected:
    void start(const FrameConfig& first, const FrameConfig& second, const Key& second_key = key) {
        a.partner = &b;
        b.partner = &a;
        a.open(GetParam(), 0, first);
        b.open(GetParam(), 1, second, second_key);
        ASSERT_FALSE(HasFatalFailure());
        to_b = a.network->connect_to(1);
        ASSERT_EQ(to_b, 0);
        EXPECT_EQ(a.network->rank_of(0), 1);
    }
    template <class Done>
    bool poll_until(Done done) {
        for (int i = 0; i < 20000 && !done(); ++i) {
            a.network->progress();
            b.network->progress();
            if (i > 1000) usleep(100);
        }
        return done();
    }
    bool connect() {
        return poll_until([this] { return a.connections == 1 && b.connections == 1; });
    }
    // Sends frames of many lengths and checks that all arrive; only streams keep them in order.
    void exchange_frames(Process& from, Process& to) {
        std::vector<Bytes> sent;
        FrameTicket ticket;
        int in_flight = 0;
        for (uint64_t i = 0; i < 60; ++i) {
            const size_t lengths[] = {0, 100, 1500, 5000, wire::frame_chunk};
            sent.push_back(frame_of(lengths[i % 5], i));
        }
        for (const Bytes& frame : sent) {
            const std::span all(frame);
            const std::span head = all.first(sizeof(wire::Frame));
            const Batching batching = frame.size() < 2000 ? Batching::allowed : Batching::forbidden;
            const PostStatus posted =
                from.network->send_frame(0, head, all.subspan(head.size()), &ticket, batching);
            ASSERT_TRUE(posted == PostStatus::done || posted == PostStatus::in_flight);
            in_flight += posted == PostStatus::in_flight ? 1 : 0;
        }
        EXPECT_TRUE(poll_until([&] { return to.frames.size() == sent.size() && from.network->idle(); }));
        std::ranges::sort(sent);
        std::ranges::sort(to.frames);
        EXPECT_TRUE(to.frames == sent);
        EXPECT_EQ(from.frames_sent, in_flight);
        EXPECT_FALSE(from.network->has_batches());
    }
    Process a, b;
    int to_b = -1;
};

TEST_P(EnginePair, MessagesArriveInOrder) {
    start({}, {});
    EXPECT_EQ(a.network->send(0, envelope_of(0), nullptr, {}), PostStatus::would_block);
    EXPECT_TRUE(a.network->has_pending_handshakes());
    ASSERT_TRUE(connect());
    EXPECT_FALSE(a.network->has_pending_handshakes());
    NetworkOperation operation;
    std::vector<Bytes> sent;
    int in_flight = 0;
    for (int i = 0; i < 200; ++i) {
        sent.push_back(pattern(static_cast<size_t>(i % 10) * 700, static_cast<size_t>(i)));
        const BufferRef data{sent.back().data(), sent.back().size(), &operation};
        const std::byte text[3] = {std::byte{'a'}, std::byte{'b'}, std::byte{'c'}};
        const PostStatus posted = i % 7 == 0 ? a.network->send(0, envelope_of(i, 3), text, data)
                                             : a.network->send_batched(0, envelope_of(i, 3), text, data);
        ASSERT_TRUE(posted == PostStatus::done || posted == PostStatus::in_flight);
        in_flight += posted == PostStatus::in_flight ? 1 : 0;
    }
    ASSERT_TRUE(poll_until([&] { return b.tags.size() == sent.size() && a.network->idle(); }));
    for (int i = 0; i < 200; ++i) EXPECT_EQ(b.tags[static_cast<size_t>(i)], i);
    EXPECT_TRUE(b.data == sent);
    EXPECT_EQ(b.payload, "abc");
    EXPECT_EQ(a.sent, in_flight);
    EXPECT_EQ(a.failed, 0);
    EXPECT_EQ(a.network->rejected_messages() + b.network->rejected_messages(), 0U);
}

TEST_P(EnginePair, NoncontiguousDataIsPackedAndFetched) {
    start({}, {});
    ASSERT_TRUE(connect());
    StridedOperation from;
    from.memory = pattern(200000, 3);
    const BufferRef data{nullptr, 100000, &from};
    ASSERT_NE(a.network->send_rendezvous(0, envelope_of(5), nullptr, data), PostStatus::failed);
    ASSERT_TRUE(poll_until([this] { return b.bulk != nullptr; }));
    EXPECT_EQ(b.bulk_bytes, 100000U);
    StridedOperation to;
    to.memory.resize(200000);
    b.network->fetch(*b.bulk, {nullptr, 100000, &to});
    ASSERT_TRUE(poll_until([this] { return b.fetched == 1 && a.sent == 1; }));
    for (size_t i = 0; i < 200000; i += 2) ASSERT_EQ(to.memory[i], from.memory[i]) << i;

    b.bulk = nullptr;
    ASSERT_NE(a.network->send_rendezvous(0, envelope_of(6), nullptr, data), PostStatus::failed);
    ASSERT_TRUE(poll_until([this] { return b.bulk != nullptr; }));
    b.network->drop(*b.bulk);
    EXPECT_TRUE(poll_until([this] { return a.network->idle(); }));
}

TEST_P(EnginePair, FramesByEngine) {
    start({}, {});
    ASSERT_TRUE(connect());
    EXPECT_TRUE(a.network->path_ready(0));
    exchange_frames(a, b);
    EXPECT_EQ(b.connections, 1);
}

TEST_P(EnginePair, KeptFrameIsReleased) {
    start({}, {});
    ASSERT_TRUE(connect());
    b.keeps_frames = true;
    const Bytes frame = frame_of(wire::frame_chunk, 1);
    const std::span head = std::span(frame).first(sizeof(wire::Frame));
    FrameTicket ticket;
    ASSERT_NE(
        a.network->send_frame(0, head, std::span(frame).subspan(head.size()), &ticket, Batching::forbidden),
        PostStatus::failed);
    ASSERT_TRUE(poll_until([this] { return b.frames.size() == 1; }));
    if (b.kept != nullptr) b.network->release_frame(b.kept);
}

TEST_P(EnginePair, FramesByStreams) {
    start({nullptr, true, true}, {nullptr, true, false}); // a gateway and a rank
    ASSERT_TRUE(connect());
    ASSERT_TRUE(poll_until([this] { return b.network->path_ready(0); }));
    exchange_frames(a, b);
    exchange_frames(b, a);
    const Bytes frame = frame_of(100, 1);
    EXPECT_EQ(b.network->send_frame(0, frame, {}, nullptr, Batching::allowed), PostStatus::done);
    EXPECT_TRUE(poll_until([this] { return a.frames.size() == 61; }));
}

TEST_P(EnginePair, WrongKeyIsRejected) {
    constexpr Key other{1, 2, 4};
    start({}, {}, other);
    EXPECT_TRUE(poll_until([this] { return b.network->rejected_messages() == 1; }));
    EXPECT_EQ(a.network->send(0, envelope_of(0), nullptr, {}), PostStatus::would_block);
}

TEST_P(EnginePair, ResetPeerIsConnectedAgain) {
    start({}, {});
    ASSERT_TRUE(connect());
    a.network->reset_peer(0);
    ASSERT_EQ(a.network->connect_to(1), 0);
    ASSERT_TRUE(poll_until([this] { return a.connections == 2 && b.connections == 2; }));
    EXPECT_EQ(b.peer_failures, 1); // operations in flight to it would be lost
    ASSERT_NE(a.network->send(0, envelope_of(9), nullptr, {}), PostStatus::failed);
    EXPECT_TRUE(poll_until([this] { return !b.tags.empty() && b.tags.back() == 9; }));
    a.network->fail_peer(1);
    EXPECT_EQ(a.network->send(0, envelope_of(9), nullptr, {}), PostStatus::failed);
}

TEST_P(EnginePair, BothSidesConnectAtOnce) {
    start({}, {});
    ASSERT_EQ(b.network->connect_to(0), 0);
    ASSERT_TRUE(poll_until([this] { return a.connections >= 1 && b.connections >= 1; }));
    for (int i = 0; i < 50; ++i) {
        ASSERT_EQ(a.network->send(0, envelope_of(i), nullptr, {}), PostStatus::done);
        ASSERT_EQ(b.network->send(0, envelope_of(i), nullptr, {}), PostStatus::done);
    }
    ASSERT_TRUE(poll_until([this] { return a.tags.size() == 50 && b.tags.size() == 50; }));
    EXPECT_TRUE(std::ranges::is_sorted(a.tags) && std::ranges::is_sorted(b.tags));
    EXPECT_EQ(a.peer_failures + b.peer_failures, 0);
}

// The launcher detects failures; reporting them here too would give one failure two messages.
TEST_P(EnginePair, EndOfAPeerIsLeftToTheLauncher) {
    if (GetParam() == Kind::ucx) GTEST_SKIP() << "UCX keeps no connection that a test could observe";
    a.detect_from = INT32_MAX;
    start({}, {});
    ASSERT_TRUE(connect());
    b.network.reset();
    for (int i = 0; i < 200; ++i) {
        a.network->progress();
        usleep(100);
    }
    EXPECT_EQ(a.peer_failures, 0);
    EXPECT_EQ(a.network->send(0, envelope_of(0), nullptr, {}), PostStatus::would_block);
    a.network->fail_peer(1);
    a.network->progress();
    EXPECT_EQ(a.network->send(0, envelope_of(0), nullptr, {}), PostStatus::failed);
}

TEST_P(EnginePair, AnAnnouncedEndIsNoLoss) {
    if (GetParam() != Kind::tcp) GTEST_SKIP() << "UCX has no such connection, and seals make no difference";
    a.detect_from = b.detect_from = INT32_MAX;
    start({}, {});
    ASSERT_TRUE(connect());
    b.network->announce_end();
    ASSERT_EQ(b.network->send(0, envelope_of(1), nullptr, {}), PostStatus::done); // a later session
    ASSERT_TRUE(poll_until([this] { return a.tags.size() == 1; }));
    b.network.reset();
    for (int i = 0; i < 2500; ++i, usleep(1000)) a.network->progress();
    EXPECT_EQ(a.lost_connections + a.peer_failures, 0);
    EXPECT_EQ(a.network->send(0, envelope_of(1), nullptr, {}), PostStatus::failed); // does not wait for it
}

// Ends all established TCP connections of this process, as a firewall might.
void end_connections() {
    for (int fd = 3; fd < 1024; ++fd) {
        sockaddr_storage peer{};
        socklen_t length = sizeof peer;
        const bool connected = getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &length) == 0;
        if (connected && (peer.ss_family == AF_INET || peer.ss_family == AF_INET6)) shutdown(fd, SHUT_RDWR);
    }
}

// What was in flight is missing, so no new connection may replace the old one.
TEST_P(EnginePair, ALostConnectionIsNotReplaced) {
    if (GetParam() != Kind::tcp) GTEST_SKIP() << "UCX has no such connection, and seals make no difference";
    a.detect_from = b.detect_from = INT32_MAX;
    start({}, {});
    ASSERT_TRUE(connect());
    Bytes bulk = pattern(100000, 1);
    NetworkOperation send;
    ASSERT_EQ(b.network->send_rendezvous(0, envelope_of(1), nullptr, {bulk.data(), bulk.size(), &send}),
              PostStatus::in_flight);
    ASSERT_TRUE(poll_until([this] { return a.bulk != nullptr; }));
    end_connections();
    ASSERT_TRUE(poll_until([this] {
        return a.network->send(0, envelope_of(2), nullptr, {}) == PostStatus::would_block &&
               b.network->send(0, envelope_of(2), nullptr, {}) == PostStatus::would_block;
    }));
    Bytes target(bulk.size());
    NetworkOperation fetch;
    a.network->fetch(*a.bulk, {target.data(), target.size(), &fetch}); // would dial
    a.tags.clear();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while ((a.lost_connections == 0 || b.lost_connections == 0) &&
           std::chrono::steady_clock::now() < deadline) {
        const PostStatus posted = b.network->send(0, envelope_of(3), nullptr, {});
        ASSERT_TRUE(posted == PostStatus::would_block || posted == PostStatus::failed);
        a.network->progress();
        b.network->progress();
        usleep(1000);
    }
    EXPECT_EQ(a.lost_connections, 1);
    EXPECT_EQ(b.lost_connections, 1);
    EXPECT_EQ(a.failed, 1);
    EXPECT_EQ(b.failed, 1);
    EXPECT_TRUE(a.tags.empty());
    EXPECT_EQ(a.peer_failures + b.peer_failures, 0);
}

std::string name_of_case(const testing::TestParamInfo<Kind>& test) {
    const char* const names[] = {"ucx", "tcp", "tcp_auth", "tcp_full"};
    return names[static_cast<size_t>(test.param)];
}

INSTANTIATE_TEST_SUITE_P(Engines, EnginePair,
                         testing::Values(Kind::ucx, Kind::tcp, Kind::tcp_auth, Kind::tcp_full), name_of_case);

} // namespace
} // namespace zipmpi::transport
