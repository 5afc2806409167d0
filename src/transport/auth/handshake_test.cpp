// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/auth/handshake.hpp"

#include <array>
#include <gtest/gtest.h>

namespace zipmpi::transport::auth {
namespace {

constexpr std::array<uint8_t, wire::job_key_bytes> key{1, 2, 3};
constexpr std::array<uint8_t, wire::job_key_bytes> other_key{1, 2, 4};

std::string hello_to(int to, std::string_view address = "address") {
    wire::HandshakeMessage g{};
    g.kind = wire::net_hello;
    g.from = 3;
    g.to = to;
    g.token = 77;
    return sign(g, address, key);
}

bool verifies(const std::string& bytes, unsigned kind, int own, Key with, VerifiedMessage& out) {
    return verify(std::as_bytes(std::span(bytes)), static_cast<uint16_t>(kind), own, with, out);
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

} // namespace
} // namespace zipmpi::transport::auth
