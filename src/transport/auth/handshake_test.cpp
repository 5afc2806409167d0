// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/auth/handshake.hpp"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <numeric>
#include <type_traits>

namespace zipmpi::transport::auth {
namespace {

constexpr std::array<uint8_t, wire::key_bytes> key{1, 2, 3};
constexpr std::array<uint8_t, wire::key_bytes> other_key{1, 2, 4};

std::string hello_to(int to, std::string_view address = "address") {
    return sign({.kind = wire::net_hello, .from = 3, .to = to, .token = 77}, address, {key, other_key});
}

bool verifies(const std::string& bytes, unsigned kind, int own, Key with, VerifiedMessage& out) {
    return verify(std::as_bytes(std::span(bytes)), static_cast<uint16_t>(kind), own, {with, with}, out);
}

TEST(Handshake, RoundTrip) {
    VerifiedMessage out;
    const std::string bytes = hello_to(5);
    ASSERT_TRUE(verifies(bytes, wire::net_hello, 5, key, out));
    EXPECT_EQ(out.message.from, 3);
    EXPECT_EQ(out.message.token, 77U);
    EXPECT_EQ(out.address, "address");
    ASSERT_TRUE(verifies(hello_to(5, ""), wire::net_hello, 5, key, out));
    EXPECT_TRUE(hello_to(5, std::string(wire::net_address_max + 1, 'x')).empty());
}

// The signed bytes have the nonce of the caller, of its only possible length; without one it is zero.
TEST(Handshake, CarriesTheNonce) {
    static_assert(
        !std::is_constructible_v<decltype(Handshake::nonce), std::array<uint8_t, wire::nonce_bytes - 1>&>);
    std::array<uint8_t, wire::nonce_bytes> nonce;
    std::iota(nonce.begin(), nonce.end(), uint8_t{1});
    VerifiedMessage out;
    const std::string bytes =
        sign({.kind = wire::net_hello, .from = 3, .to = 5, .nonce = nonce}, "", {key, key});
    ASSERT_TRUE(verifies(bytes, wire::net_hello, 5, key, out));
    EXPECT_TRUE(std::ranges::equal(out.message.nonce, nonce));
    const std::string without = hello_to(5);
    ASSERT_TRUE(verifies(without, wire::net_hello, 5, key, out));
    EXPECT_TRUE(std::ranges::equal(out.message.nonce, no_nonce));
}

TEST(Handshake, IsBoundToRankKindAndKey) {
    VerifiedMessage out;
    const std::string bytes = hello_to(5);
    EXPECT_FALSE(verifies(bytes, wire::net_hello, 6, key, out));
    EXPECT_FALSE(verifies(bytes, wire::net_hello_reply, 5, key, out));
    EXPECT_FALSE(verifies(bytes, wire::net_hello, 5, other_key, out));
}

TEST(Handshake, AnyChangedBitIsDetected) {
    const std::string bytes = hello_to(5);
    for (size_t i = 0; i < bytes.size() * 8; ++i) {
        std::string wrong = bytes;
        wrong[i / 8] = static_cast<char>(wrong[i / 8] ^ (1 << (i % 8)));
        VerifiedMessage out;
        EXPECT_FALSE(verifies(wrong, wire::net_hello, 5, key, out)) << "bit " << i;
    }
    for (size_t n = 0; n < bytes.size(); ++n) {
        VerifiedMessage out;
        EXPECT_FALSE(verifies(bytes.substr(0, n), wire::net_hello, 5, key, out)) << n << " bytes";
    }
}

// A process with only the key of gateways is not accepted as a rank.
TEST(Handshake, RanksUseKeyThatGatewaysDoNotHave) {
    Handshake g{.kind = wire::net_hello, .from = 3, .to = 5};
    constexpr int job_size = 10;
    const HandshakeKeys of_rank{key, other_key, job_size};
    const HandshakeKeys of_gateway{other_key, other_key, job_size};
    VerifiedMessage out;
    const auto accepted = [&](const std::string& bytes, int own, const HandshakeKeys& with) {
        return verify(std::as_bytes(std::span(bytes)), wire::net_hello, own, with, out);
    };
    EXPECT_TRUE(accepted(sign(g, "", of_rank), 5, of_rank));
    EXPECT_FALSE(accepted(sign(g, "", of_gateway), 5, of_rank));
    g.from = job_size;
    EXPECT_TRUE(accepted(sign(g, "", of_gateway), 5, of_rank));
    g.from = 3;
    g.to = job_size;
    EXPECT_TRUE(accepted(sign(g, "", of_rank), job_size, of_gateway));
}

} // namespace
} // namespace zipmpi::transport::auth
