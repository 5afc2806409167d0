// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/dpm/port_candidates.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace zipmpi::core {
namespace {

constexpr uint64_t deadline_ns = 100;

struct Port {
    const std::string secret = transport::stream::random_bytes(transport::stream::key_bytes);
    PortCandidates candidates;
    std::vector<os::Fd> clients;

    // Adds a connection and returns the client's end.
    int connect() {
        int ends[2];
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
        candidates.add(os::Fd(ends[0]), deadline_ns);
        return clients.emplace_back(ends[1]).get();
    }
    [[nodiscard]] transport::stream::Hello hello(const std::string& key) const {
        return transport::stream::make_hello(key, {1, 0, 0}, {});
    }
    [[nodiscard]] bool serves(uint64_t now_ns) {
        transport::stream::Hello got{};
        candidates.read(secret, now_ns);
        return static_cast<bool>(candidates.take(got));
    }
};

void send_part(int fd, const transport::stream::Hello& hello, size_t from, size_t bytes) {
    const auto* const at = reinterpret_cast<const char*>(&hello) + from;
    ASSERT_EQ(write(fd, at, bytes), static_cast<ssize_t>(bytes));
}

TEST(PortCandidates, SilentConnectionsDelayNoOther) {
    Port port;
    for (int i = 0; i < 40; ++i) port.connect();
    const int client = port.connect();
    const transport::stream::Hello hello = port.hello(port.secret);
    send_part(client, hello, 0, 5);
    EXPECT_FALSE(port.serves(1));
    send_part(client, hello, 5, sizeof hello - 5);
    EXPECT_TRUE(port.serves(1));
    EXPECT_FALSE(port.serves(1)) << "once";
}

TEST(PortCandidates, OnlyTheSecretCounts) {
    Port port;
    const int unauthenticated = port.connect();
    send_part(unauthenticated, port.hello(transport::stream::random_bytes(transport::stream::key_bytes)), 0,
              sizeof(transport::stream::Hello));
    EXPECT_FALSE(port.serves(1));
    char byte = 0;
    EXPECT_EQ(read(unauthenticated, &byte, 1), 0) << "the connection is closed";
}

// Descriptors are bounded, and connections that wait for the next MPI_Comm_accept are kept.
TEST(PortCandidates, OldestUnauthenticatedMakesRoom) {
    Port port;
    const transport::stream::Hello hello = port.hello(port.secret);
    for (int i = 0; i < 3; ++i) send_part(port.connect(), hello, 0, sizeof hello);
    EXPECT_TRUE(port.serves(1));
    const int silent = port.connect();
    for (size_t i = 0; i < 2 * PortCandidates::max_candidates; ++i) port.connect();
    char byte = 0;
    EXPECT_EQ(read(silent, &byte, 1), 0);
    std::vector<pollfd> fds;
    port.candidates.add_to(fds);
    EXPECT_LE(fds.size(), PortCandidates::max_candidates);
    EXPECT_TRUE(port.serves(deadline_ns + 1)) << "no deadline once it is authentic";
    EXPECT_TRUE(port.serves(deadline_ns + 1));
    fds.clear();
    port.candidates.add_to(fds);
    EXPECT_TRUE(fds.empty()) << "the silent ones are dropped after the deadline";
}

} // namespace
} // namespace zipmpi::core
