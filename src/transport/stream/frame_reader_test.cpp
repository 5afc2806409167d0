// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A process that has the key of the job, and sends headers that promise more than follows.
#include "transport/stream/message_streams.hpp"

#include <array>
#include <gtest/gtest.h>
#include <sys/socket.h>

namespace zipmpi::transport::stream {
namespace {

constexpr ProcessName own{1, 0, 0};
constexpr ProcessName other{1, 1, 0};
constexpr uint64_t gigabyte = uint64_t{1} << 30;
constexpr uint64_t megabyte = uint64_t{1} << 20;

const std::string& key() {
    static const std::string k(key_bytes, 'k');
    return k;
}

class OnePeer final : public PeerSet {
  public:
    OnePeer()
        : PeerSet(0) {
        add_link();
        contact_.name = other;
    }
    [[nodiscard]] const ContactInfo& contact_of(int) const override { return contact_; }
    [[nodiscard]] ProcessName own_name(int) const override { return own; }
    [[nodiscard]] std::string_view key_of(int) const override { return key(); }
    [[nodiscard]] std::string_view find_key(const Hello&) const override { return key(); }
    [[nodiscard]] int find(const ProcessName& name) override { return name == other ? 0 : none; }
    [[nodiscard]] bool admit(int, const Hello&) override { return true; }
    [[nodiscard]] bool may_send(int, const wire::Envelope&, const std::byte*) const override { return true; }
    [[nodiscard]] bool detects_failure_of(int) const override { return true; }
    [[nodiscard]] bool reports_failure_of(int) const override { return true; }
    void connected(int) override {}

  private:
    ContactInfo contact_;
};

class FrameReaderTest : public testing::Test, public NetworkListener, public RelayListener {
  public:
    void message_arrived(const Arrival& a) override { received = a.bulk_bytes; }
    void rts_arrived(const Arrival&, IncomingBulk&, uint64_t) override {}
    void send_finished(NetworkOperation*, OpStatus) override {}
    void fetch_finished(NetworkOperation*, OpStatus) override {}
    void peer_failed(Peer, const char*) override { failed = true; }
    void pack(NetworkOperation*, uint64_t, std::byte*, size_t) override {}
    void unpack(NetworkOperation*, uint64_t, const std::byte*, size_t) override {}
    size_t list_iov(NetworkOperation*, iovec*, size_t) override { return 0; }
    void relayed_arrived(int, std::span<const std::byte>) override {}
    void offer_arrived(int, std::span<const std::byte>) override {}

  protected:
    FrameReaderTest() {
        int fds[2];
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
        far.reset(fds[0]);
        Connection& c = streams.table().add(os::Fd(fds[1]), Connection::State::hello_awaited, UINT64_MAX);
        EXPECT_TRUE(streams.table().start_watching(c));
        number = c.number;
    }
    template <class T>
    void write(const T& object) {
        EXPECT_EQ(::send(far.get(), &object, sizeof object, MSG_NOSIGNAL), ssize_t{sizeof object});
        poll();
    }
    void poll() {
        EXPECT_TRUE(streams.arm()); // all connections are polled
        streams.progress();
    }
    void authenticate() {
        const Hello hello = make_hello(key(), other, own);
        write(hello);
        HelloReply reply{};
        ASSERT_EQ(recv(far.get(), &reply, sizeof reply, MSG_DONTWAIT), ssize_t{sizeof reply});
        write(make_confirm(hello, reply, key()));
        ASSERT_TRUE(connection() != nullptr && connection()->is_open());
    }
    Connection* connection() { return streams.table().find(number); }

    OnePeer peers;
    MessageStreams streams{{own, *this, this}, peers};
    os::Fd far;
    uint64_t number = 0;
    uint64_t received = 0;
    bool failed = false;
};

// Memory grows with the data that has arrived.
TEST_F(FrameReaderTest, HeaderAloneAllocatesLittle) {
    authenticate();
    FrameHeader head;
    head.bytes = gigabyte;
    write(head);
    ASSERT_TRUE(connection() != nullptr && connection()->frame.in_data);
    EXPECT_LE(connection()->frame.body.capacity(), megabyte);
    for (int i = 0; i < 3; ++i) write(std::array<std::byte, 100'000>{});
    EXPECT_EQ(connection()->frame.received, 300'000U);
    EXPECT_LE(connection()->frame.body.capacity(), megabyte);
}

TEST_F(FrameReaderTest, LargeMessagesAreReceived) {
    authenticate();
    constexpr size_t piece = 100'000;
    FrameHeader head;
    head.bytes = 30 * piece;
    write(head);
    for (int i = 0; i < 30; ++i) {
        EXPECT_EQ(received, 0U);
        write(std::array<std::byte, piece>{});
    }
    EXPECT_EQ(received, 30 * piece);
    EXPECT_LE(connection()->frame.body.capacity(), megabyte); // the rest is returned
}

TEST_F(FrameReaderTest, ImpossibleLengthsEndTheConnection) {
    authenticate();
    FrameHeader head;
    head.bytes = gigabyte + 1;
    write(head);
    poll();
    EXPECT_EQ(connection(), nullptr);
    EXPECT_TRUE(failed);
    EXPECT_EQ(streams.rejected(), 1U);
}

TEST_F(FrameReaderTest, FramesOfGatewaysHaveALowerLimit) {
    authenticate();
    FrameHeader head;
    head.kind = FrameHeader::Kind::relayed;
    head.bytes = megabyte + 1;
    write(head);
    poll();
    EXPECT_EQ(connection(), nullptr);
}

// The bytes of a hello are kept, no others.
TEST_F(FrameReaderTest, UnauthenticatedPeersAllocateNothing) {
    write(std::array<std::byte, 50'000>{});
    poll();
    EXPECT_EQ(connection(), nullptr);
    EXPECT_FALSE(failed);
}

} // namespace
} // namespace zipmpi::transport::stream
