// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/protocol/handshake.hpp"

#include <cstring>
#include <gtest/gtest.h>

using namespace zipmpi::launch;

namespace {

JobKey key_of(uint8_t fill) {
    JobKey key;
    key.fill(fill);
    return key;
}
Nonce nonce_of(uint8_t fill) {
    Nonce n;
    n.fill(fill);
    return n;
}

struct HandshakePair {
    HandshakePair(uint8_t acceptors_key, uint8_t connectors_key, uint32_t node = 7)
        : acceptor(key_of(acceptors_key), nonce_of(1))
        , connector(key_of(connectors_key), nonce_of(2), node) {}
    HandshakeAcceptor acceptor;
    HandshakeConnector connector;
};

TEST(Handshake, BothSidesAuthenticate) {
    HandshakePair p(9, 9);
    const std::string opening = p.acceptor.take_output();
    EXPECT_EQ(opening.size(), 40U);
    EXPECT_EQ(p.connector.bytes_needed(), 40U);
    EXPECT_EQ(p.connector.feed(opening), HandshakeState::in_progress);
    const std::string claim = p.connector.take_output();
    for (const char c : claim) p.acceptor.feed(std::string_view(&c, 1)); // byte by byte
    EXPECT_EQ(p.acceptor.state(), HandshakeState::authenticated);
    EXPECT_EQ(p.acceptor.node(), 7U);
    EXPECT_EQ(p.connector.feed(p.acceptor.take_output()), HandshakeState::authenticated);
    EXPECT_EQ(p.connector.bytes_needed(), 0U);
}

TEST(Handshake, WrongKeyIsRejected) {
    HandshakePair p(9, 8);
    p.connector.feed(p.acceptor.take_output());
    EXPECT_EQ(p.acceptor.feed(p.connector.take_output()), HandshakeState::rejected);
    EXPECT_TRUE(p.acceptor.take_output().empty());
}

TEST(Handshake, EveryFlippedBitIsRejected) {
    for (size_t bit = 8 * 8; bit < sizeof(HandshakeResponse) * 8; ++bit) {
        HandshakePair p(9, 9);
        p.connector.feed(p.acceptor.take_output());
        std::string claim = p.connector.take_output();
        claim[bit / 8] = static_cast<char>(claim[bit / 8] ^ (1 << bit % 8));
        EXPECT_EQ(p.acceptor.feed(claim), HandshakeState::rejected) << bit;
    }
    for (size_t bit = 0; bit < sizeof(HandshakeConfirm) * 8; ++bit) {
        HandshakePair p(9, 9);
        p.connector.feed(p.acceptor.take_output());
        p.acceptor.feed(p.connector.take_output());
        std::string reply = p.acceptor.take_output();
        reply[bit / 8] = static_cast<char>(reply[bit / 8] ^ (1 << bit % 8));
        EXPECT_EQ(p.connector.feed(reply), HandshakeState::rejected) << bit;
    }
}

TEST(Handshake, ReplayIsRejected) {
    HandshakePair p(9, 9);
    p.connector.feed(p.acceptor.take_output());
    const std::string claim = p.connector.take_output();
    HandshakeAcceptor later(key_of(9), nonce_of(3));
    EXPECT_EQ(later.feed(claim), HandshakeState::rejected);
}

TEST(Handshake, ReflectionIsRejected) { // an acceptor that returns the connector's own MAC
    HandshakePair p(9, 9);
    p.connector.feed(p.acceptor.take_output());
    const std::string claim = p.connector.take_output();
    EXPECT_EQ(p.connector.feed(claim.substr(claim.size() - sizeof(Mac))), HandshakeState::rejected);
}

TEST(Handshake, ExcessBytesAreRejected) {
    HandshakePair p(9, 9);
    EXPECT_EQ(p.connector.feed(p.acceptor.take_output() + "x"), HandshakeState::rejected);
    EXPECT_EQ(p.connector.feed(""), HandshakeState::rejected);
}

// RFC 4231 has no case of this layout, so the expected value was computed independently:
// the bytes "connect\0", role 1, node 0, 64 zero bytes under a key of zeros.
TEST(Handshake, MacIsHmacSha256) {
    HandshakeConnector c(key_of(0), nonce_of(0), 0);
    HandshakeChallenge opening{{'z', 'i', 'p', 'm', 'p', 'i', 'h', '1'}, nonce_of(0)};
    c.feed({reinterpret_cast<const char*>(&opening), sizeof opening});
    const std::string claim = c.take_output();
    ASSERT_EQ(claim.size(), sizeof(HandshakeResponse));
    const unsigned char expected[] = {0x1d, 0x73, 0x40, 0x8d, 0x3a, 0xd5, 0x9a, 0x16};
    EXPECT_EQ(std::memcmp(claim.data() + 48, expected, sizeof expected), 0);
}

} // namespace
