// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The network engines: peers that are rejected, reset, lost, or fail.
#include "transport/engine_pair.hpp"

#include <chrono>
#include <sys/socket.h>

namespace zipmpi::transport {
namespace {

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
    const PostStatus posted = a.network->send(0, envelope_of(0), nullptr, {});
    EXPECT_TRUE(posted == PostStatus::would_block ||
                is_ofi(GetParam())); // libfabric reports it later, or never
    EXPECT_EQ(a.peer_failures, 0);
    a.network->fail_peer(1);
    a.network->progress();
    EXPECT_EQ(a.network->send(0, envelope_of(0), nullptr, {}), PostStatus::failed);
}

TEST_P(EnginePair, AnAnnouncedEndIsNoLoss) {
    if (GetParam() != Kind::tcp && !is_ofi(GetParam()))
        GTEST_SKIP() << "UCX has no such connection, and seals make no difference";
    a.detect_from = b.detect_from = INT32_MAX;
    start({}, {});
    ASSERT_TRUE(connect());
    b.network->announce_end();
    ASSERT_EQ(b.network->send(0, envelope_of(1), nullptr, {}), PostStatus::done); // a later session
    ASSERT_TRUE(poll_until([this] { return a.tags.size() == 1; }));
    b.network.reset();
    for (int i = 0; i < 2500; ++i, usleep(1000)) {
        a.network->progress();
        if (is_ofi(GetParam())) // which notices the end by it
            static_cast<void>(a.network->send(0, envelope_of(1), nullptr, {}));
    }
    EXPECT_EQ(a.lost_connections + a.peer_failures, 0);
    EXPECT_TRUE(a.network->idle());
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

TEST_P(EnginePair, LostConnectionIsReportedAfterAWhile) {
    if (!is_ofi(GetParam())) GTEST_SKIP() << "other engines notice it without a message";
    a.detect_from = b.detect_from = INT32_MAX;
    start({}, {});
    ASSERT_TRUE(connect());
    end_connections();
    b.network.reset(); // libfabric would connect again
    bool was_held = false;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (a.lost_connections == 0 && std::chrono::steady_clock::now() < deadline) {
        const PostStatus posted = a.network->send(0, envelope_of(1), nullptr, {});
        was_held = was_held || posted == PostStatus::would_block;
        a.network->progress();
        usleep(1000);
    }
    EXPECT_TRUE(was_held); // the launcher has time to report the peer
    EXPECT_EQ(a.lost_connections, 1);
    EXPECT_EQ(a.peer_failures, 0);
    EXPECT_EQ(a.network->send(0, envelope_of(1), nullptr, {}), PostStatus::failed);
    EXPECT_EQ(a.network->connect_to(1), -1);
    EXPECT_TRUE(a.network->idle());
}

TEST_P(EnginePair, FailedPeerEndsOperations) {
    if (!is_ofi(GetParam())) GTEST_SKIP() << "other engines have tests of their own";
    start({}, {});
    ASSERT_TRUE(connect());
    Bytes memory = pattern(300000, 1);
    NetworkOperation operation;
    const BufferRef data{memory.data(), memory.size(), &operation};
    ASSERT_EQ(a.network->send_rendezvous(0, envelope_of(5), nullptr, data), PostStatus::in_flight);
    ASSERT_TRUE(poll_until([this] { return b.bulk != nullptr; }));
    b.network->fetch(*b.bulk, data);
    b.network->fail_peer(0);
    a.network->fail_peer(1);
    EXPECT_TRUE(poll_until([this] { return b.failed == 1 && a.failed == 1; }));
    EXPECT_EQ(a.network->connect_to(1), -1);
}

} // namespace
} // namespace zipmpi::transport
