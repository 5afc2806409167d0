// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/auth.hpp"
#include "base/hex.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

using namespace zipmpi;

namespace {

// RFC 4231, cases 1 and 2.
TEST(Auth, KnownCodes) {
    const std::vector<uint8_t> key(20, 0x0b);
    const Digest mac = mac_of(key, "Hi There");
    EXPECT_EQ(hex_of(mac.data(), mac.size()),
              "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    const std::vector<uint8_t> jefe{'J', 'e', 'f', 'e'};
    EXPECT_EQ(mac_of(jefe, "what do ya want for nothing?"),
              hmac_sha256("Jefe", "what do ya want for nothing?"));
}

TEST(Auth, IsBoundToKeyTextAndCode) {
    const std::vector<uint8_t> key(32, 7);
    std::vector<uint8_t> other = key;
    other[31] ^= 1;
    Digest mac = mac_of(key, "text");
    EXPECT_TRUE(is_mac_of(mac, key, "text"));
    EXPECT_FALSE(is_mac_of(mac, other, "text"));
    EXPECT_FALSE(is_mac_of(mac, key, "test"));
    mac[0] ^= 128;
    EXPECT_FALSE(is_mac_of(mac, key, "text"));
}

TEST(Auth, BytesOfMessage) {
    struct Message {
        uint32_t first;
        char second[4];
    };
    EXPECT_EQ(message_bytes(Message{0x64636261, {'e', 'f', 'g', 'h'}}), "abcdefgh");
}

} // namespace
