// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/protocol/handshake.hpp"

#include <cstring>
#include <gtest/gtest.h>

using namespace zipmpi;
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

// Public keys are distinct; the shared secret depends on both.
class ToyExchange final : public KeyExchange {
  public:
    explicit ToyExchange(uint8_t fill) { own_.fill(fill); }
    [[nodiscard]] const PublicKey& public_key() const override { return own_; }
    bool agree(const PublicKey& peer, KeyBytes& shared) override {
        for (size_t i = 0; i < shared.size(); ++i) shared[i] = static_cast<uint8_t>(own_[i] ^ peer[i] ^ 0x55);
        return true;
    }

  private:
    PublicKey own_{};
};

struct HandshakePair {
    HandshakePair(uint8_t acceptors_key, uint8_t connectors_key, uint32_t node = 7)
        : acceptor(key_of(acceptors_key), nonce_of(1), std::make_unique<ToyExchange>(3))
        , connector(key_of(connectors_key), nonce_of(2), std::make_unique<ToyExchange>(4), node) {}
    HandshakeAcceptor acceptor;
    HandshakeConnector connector;
};

TEST(Handshake, BothSidesAuthenticate) {
    HandshakePair p(9, 9);
    const std::string opening = p.acceptor.take_output();
    EXPECT_EQ(opening.size(), 72U);
    EXPECT_EQ(p.connector.bytes_needed(), 72U);
    EXPECT_EQ(p.connector.feed(opening), HandshakeState::in_progress);
    const std::string claim = p.connector.take_output();
    for (const char c : claim) p.acceptor.feed(std::string_view(&c, 1)); // byte by byte
    EXPECT_EQ(p.acceptor.state(), HandshakeState::authenticated);
    EXPECT_EQ(p.acceptor.node(), 7U);
    EXPECT_EQ(p.connector.feed(p.acceptor.take_output()), HandshakeState::authenticated);
    EXPECT_EQ(p.connector.bytes_needed(), 0U);
    EXPECT_EQ(p.acceptor.record_keys().sending, p.connector.record_keys().receiving);
    EXPECT_EQ(p.acceptor.record_keys().receiving, p.connector.record_keys().sending);
    EXPECT_NE(p.acceptor.record_keys().sending, p.acceptor.record_keys().receiving);
}

// The keys depend on the exchanged secret: the key of the job alone does not give them.
TEST(Handshake, RecordKeysDependOnKeyExchange) {
    const auto keys_with = [](uint8_t public_key) {
        HandshakeAcceptor acceptor(key_of(9), nonce_of(1), std::make_unique<ToyExchange>(public_key));
        HandshakeConnector connector(key_of(9), nonce_of(2), std::make_unique<ToyExchange>(4), 7);
        connector.feed(acceptor.take_output());
        acceptor.feed(connector.take_output());
        return acceptor.record_keys().sending;
    };
    EXPECT_EQ(keys_with(3), keys_with(3));
    EXPECT_NE(keys_with(3), keys_with(5));
}

TEST(Handshake, ReplacedPublicKeyOfAcceptorIsRejected) {
    HandshakePair p(9, 9);
    std::string opening = p.acceptor.take_output();
    opening.back() = static_cast<char>(opening.back() ^ 1);
    p.connector.feed(opening);
    EXPECT_EQ(p.acceptor.feed(p.connector.take_output()), HandshakeState::rejected);
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
    HandshakeAcceptor later(key_of(9), nonce_of(3), std::make_unique<ToyExchange>(3));
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
// the bytes "connect\0", role 1, node 0, 128 zero bytes under a key of zeros.
TEST(Handshake, MacIsHmacSha256) {
    HandshakeConnector c(key_of(0), nonce_of(0), std::make_unique<ToyExchange>(0), 0);
    HandshakeChallenge opening{{'z', 'i', 'p', 'm', 'p', 'i', 'h', '2'}, nonce_of(0), {}};
    c.feed({reinterpret_cast<const char*>(&opening), sizeof opening});
    const std::string claim = c.take_output();
    ASSERT_EQ(claim.size(), sizeof(HandshakeResponse));
    const unsigned char expected[] = {0x2d, 0xdd, 0x8a, 0x23, 0x42, 0x1a, 0x57, 0x24};
    EXPECT_EQ(std::memcmp(claim.data() + 80, expected, sizeof expected), 0);
}

} // namespace
