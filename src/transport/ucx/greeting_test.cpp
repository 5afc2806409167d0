// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ucx/greeting.hpp"

#include <array>
#include <gtest/gtest.h>

namespace zipmpi::transport::ucx {
namespace {

constexpr std::array<uint8_t, wire::job_key_bytes> key{1, 2, 3};
constexpr std::array<uint8_t, wire::job_key_bytes> other_key{1, 2, 4};

std::string hello_to(int to, std::string_view address = "address") {
    wire::Greeting g{};
    g.kind = wire::net_hello;
    g.from = 3;
    g.to = to;
    g.pass = 77;
    return seal(g, address, key);
}

bool opens(const std::string& bytes, unsigned kind, int own, Key with, Opened& out) {
    return unseal(std::as_bytes(std::span(bytes)), static_cast<uint16_t>(kind), own, with, out);
}

TEST(Greeting, ComesAsItWasSent) {
    Opened out;
    const std::string bytes = hello_to(5);
    ASSERT_TRUE(opens(bytes, wire::net_hello, 5, key, out));
    EXPECT_EQ(out.greeting.from, 3);
    EXPECT_EQ(out.greeting.pass, 77U);
    EXPECT_EQ(out.address, "address");
    ASSERT_TRUE(opens(hello_to(5, ""), wire::net_hello, 5, key, out));
    EXPECT_TRUE(hello_to(5, std::string(wire::net_address_max + 1, 'x')).empty());
}

TEST(Greeting, IsForOneRankOneKindAndOneKey) {
    Opened out;
    const std::string bytes = hello_to(5);
    EXPECT_FALSE(opens(bytes, wire::net_hello, 6, key, out));
    EXPECT_FALSE(opens(bytes, wire::net_welcome, 5, key, out));
    EXPECT_FALSE(opens(bytes, wire::net_hello, 5, other_key, out));
}

TEST(Greeting, EveryBitCounts) {
    const std::string bytes = hello_to(5);
    for (size_t i = 0; i < bytes.size() * 8; ++i) {
        std::string wrong = bytes;
        wrong[i / 8] = static_cast<char>(wrong[i / 8] ^ (1 << (i % 8)));
        Opened out;
        EXPECT_FALSE(opens(wrong, wire::net_hello, 5, key, out)) << "bit " << i;
    }
    for (size_t n = 0; n < bytes.size(); ++n) {
        Opened out;
        EXPECT_FALSE(opens(bytes.substr(0, n), wire::net_hello, 5, key, out)) << n << " bytes";
    }
}

} // namespace
} // namespace zipmpi::transport::ucx
