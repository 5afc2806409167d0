// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A hello that was recorded on the network and is sent again: the sender has no key to confirm it.
#include "transport/stream/sockets.hpp"
#include "transport/tcp_engine/tcp_network.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace zipmpi::transport::tcp_engine {
namespace {

constexpr std::array<uint8_t, wire::key_bytes> key{1, 2, 3};

class Listener final : public NetworkListener, public AddressResolver {
  public:
    std::string find(int) override { return {}; }
    void message_arrived(const Arrival&) override {}
    void rts_arrived(const Arrival&, IncomingBulk&, uint64_t) override {}
    void send_finished(NetworkOperation*, OpStatus) override {}
    void fetch_finished(NetworkOperation*, OpStatus) override {}
    void peer_failed(Peer, const char*) override {}
    void pack(NetworkOperation*, uint64_t, std::byte*, size_t) override {}
    void unpack(NetworkOperation*, uint64_t, const std::byte*, size_t) override {}
    size_t list_iov(NetworkOperation*, iovec*, size_t) override { return 0; }
};

enum class CopyState { replied, open, closed };

// Whether the other side has replied to the hello, and has kept the connection.
CopyState state_of(const os::Fd& copy) {
    stream::HelloReply reply;
    const ssize_t n = recv(copy.get(), &reply, sizeof reply, MSG_DONTWAIT);
    return n > 0 ? CopyState::replied : n < 0 && errno == EAGAIN ? CopyState::open : CopyState::closed;
}

TEST(CopiedHello, FewConnectionsAreKept) {
    constexpr int copied = 100;
    constexpr int kept = 4;
    Listener listener;
    NetworkConfig config{1, {key, key}};
    config.listener = &listener;
    config.resolver = &listener;
    TcpNetwork network(config, {}, {});
    std::string why;
    ASSERT_TRUE(network.start("lo", why)) << why;
    stream::ContactInfo contact;
    ASSERT_TRUE(parse_address(network.address(), contact));
    const stream::Hello hello =
        stream::make_hello({reinterpret_cast<const char*>(key.data()), key.size()}, {0, 0, 77}, {0, 1, 0});
    std::vector<os::Fd> copies;
    for (int i = 0; i < copied; ++i) {
        copies.push_back(stream::dial(contact, 0));
        ASSERT_EQ(send(copies.back().get(), &hello, sizeof hello, MSG_NOSIGNAL), ssize_t{sizeof hello});
        for (int polls = 0; polls < 1000 && state_of(copies.back()) != CopyState::replied; ++polls) {
            network.progress();
            usleep(10);
        }
    }
    network.progress();
    EXPECT_LE(std::ranges::count(copies, CopyState::open, state_of), kept);
    EXPECT_EQ(state_of(copies.back()), CopyState::open);
}

} // namespace
} // namespace zipmpi::transport::tcp_engine
