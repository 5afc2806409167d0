// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/hex.hpp"
#include "base/sha256.hpp"

#include <gtest/gtest.h>

using namespace zipmpi;

namespace {

std::string hex(const Digest& d) { return hex_of(d.data(), d.size()); }

// The examples of FIPS 180-4 and RFC 4231.
TEST(Sha256, KnownAnswers) {
    EXPECT_EQ(hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Sha256, KnownHmacs) {
    EXPECT_EQ(hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    EXPECT_EQ(
        hex(hmac_sha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")),
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Sha256, OneBitMatters) {
    Digest a = sha256("a");
    const Digest b = a;
    EXPECT_TRUE(same_digest(a, b));
    a[31] ^= 1;
    EXPECT_FALSE(same_digest(a, b));
}

} // namespace
