// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The network engines: messages and frames.
#include "transport/engine_pair.hpp"
#include "transport/message_order.hpp"

#include <atomic>
#include <poll.h>
#include <thread>

// The provider `net` of libfabric 1.17 leaks a copy of its settings with each endpoint. The leak sanitizer
// calls this.
extern "C" const char* __lsan_default_suppressions(); // NOLINT(bugprone-reserved-identifier)
extern "C" const char* __lsan_default_suppressions() { return "leak:libfabric.so"; } // NOLINT

namespace zipmpi::transport {
namespace {

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

TEST(MessageOrder, EarlyMessagesAreHeld) {
    MessageOrder<int> order;
    using Turn = MessageOrder<int>::Turn;
    EXPECT_EQ(order.arrived(3), Turn::later);
    order.hold(3, 30);
    EXPECT_EQ(order.arrived(3), Turn::never);
    EXPECT_EQ(order.arrived(2), Turn::later);
    order.hold(2, 20);
    EXPECT_EQ(order.take_next(), std::nullopt);
    EXPECT_EQ(order.arrived(1), Turn::now);
    EXPECT_EQ(order.take_next(), 20);
    EXPECT_EQ(order.take_next(), 30);
    EXPECT_EQ(order.take_next(), std::nullopt);
    for (const uint32_t number : {0U, 1U, 3U, 100000U}) EXPECT_EQ(order.arrived(number), Turn::never);
    EXPECT_EQ(order.arrived(4), Turn::now);
}

// A network library may report short messages before longer ones that were sent earlier.
TEST_P(EnginePair, BurstsOfMixedLengthsArriveInOrder) {
    start({}, {});
    ASSERT_TRUE(connect());
    constexpr size_t lengths[] = {20U << 10, 8, 100U << 10, 3U << 10, 200U << 10, 0, 8};
    constexpr size_t longest_eager = 128U << 10;
    NetworkOperation operation;
    std::vector<Bytes> sent;
    for (size_t i = 0; i < 280; ++i) sent.push_back(pattern(lengths[i % std::size(lengths)], i));
    std::vector<Bytes> long_ones;
    for (size_t i = 0; i < sent.size(); ++i) {
        const BufferRef data{sent[i].data(), sent[i].size(), &operation};
        const wire::Envelope envelope = envelope_of(static_cast<int>(i));
        PostStatus posted = PostStatus::failed;
        if (data.bytes > longest_eager) {
            posted = a.network->send_rendezvous(0, envelope, nullptr, data);
            long_ones.push_back(sent[i]);
        } else {
            posted = i % 3 == 0 ? a.network->send_batched(0, envelope, nullptr, data)
                                : a.network->send(0, envelope, nullptr, data);
        }
        ASSERT_TRUE(posted == PostStatus::done || posted == PostStatus::in_flight);
        if (i % 40 == 39) b.network->progress(); // the receiver keeps up with some bursts only
    }
    ASSERT_TRUE(poll_until([&] { return b.tags.size() == sent.size(); }));
    for (size_t i = 0; i < sent.size(); ++i) ASSERT_EQ(b.tags[i], static_cast<int>(i));
    ASSERT_EQ(b.bulks.size(), long_ones.size());
    std::vector<Bytes> fetched(long_ones.size(), Bytes(200U << 10));
    for (size_t i = 0; i < fetched.size(); ++i)
        b.network->fetch(*b.bulks[i], {fetched[i].data(), fetched[i].size(), &operation});
    EXPECT_TRUE(
        poll_until([&] { return b.fetched == static_cast<int>(fetched.size()) && a.network->idle(); }));
    EXPECT_TRUE(fetched == long_ones);
    std::erase_if(sent, [](const Bytes& bytes) { return bytes.size() > longest_eager; });
    EXPECT_TRUE(b.data == sent);
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

TEST_P(EnginePair, LongMessageIsFetched) {
    start({}, {});
    ASSERT_TRUE(connect());
    constexpr size_t bytes = (40U << 20) + 1; // more than one segment of any engine
    Bytes from = pattern(bytes, 1);
    Bytes to(bytes);
    NetworkOperation operation;
    ASSERT_NE(a.network->send_rendezvous(0, envelope_of(5), nullptr, {from.data(), bytes, &operation}),
              PostStatus::failed);
    ASSERT_TRUE(poll_until([this] { return b.bulk != nullptr; }));
    b.network->fetch(*b.bulk, {to.data(), bytes, &operation});
    ASSERT_TRUE(poll_until([this] { return b.fetched == 1 && a.sent == 1 && a.network->idle(); }));
    EXPECT_TRUE(from == to);
}

TEST_P(EnginePair, SleepingProcessIsWoken) {
    start({}, {});
    std::atomic<bool> armed = false; // the receiver sleeps, or is about to: only its descriptor can wake it
    std::thread sender([&] {
        for (int i = 0; a.connections == 0 && i < 20000; ++i, usleep(100)) a.network->progress();
        for (int i = 0; !armed && i < 20000; ++i) usleep(100);
        static_cast<void>(a.network->send(0, envelope_of(9), nullptr, {}));
        for (int i = 0; !a.network->idle() && i < 20000; ++i, usleep(100)) a.network->progress();
    });
    bool woken = true;
    while (b.tags.empty() && woken) {
        pollfd descriptor{b.network->descriptor(), POLLIN, 0};
        if (b.network->progress() != 0 || !b.network->arm()) continue;
        armed = true;
        woken = poll(&descriptor, 1, 10000) == 1;
        armed = false;
    }
    sender.join();
    EXPECT_TRUE(woken);
    EXPECT_EQ(b.tags, std::vector<int>{9});
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

std::string name_of_case(const testing::TestParamInfo<Kind>& test) {
    const char* const names[] = {"ucx", "tcp", "tcp_auth", "tcp_full", "ofi_rxm", "ofi_net"};
    return names[static_cast<size_t>(test.param)];
}

INSTANTIATE_TEST_SUITE_P(Engines, EnginePair,
                         testing::Values(Kind::ucx, Kind::tcp, Kind::tcp_auth, Kind::tcp_full), name_of_case);

#ifdef ZIPMPI_HAS_OFI
INSTANTIATE_TEST_SUITE_P(Libfabric, EnginePair, testing::Values(Kind::ofi_rxm, Kind::ofi_net), name_of_case);
#endif

} // namespace
} // namespace zipmpi::transport
