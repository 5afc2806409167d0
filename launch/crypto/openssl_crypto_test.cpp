// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/crypto.hpp"
#include "base/hex.hpp"

#include <gtest/gtest.h>

extern "C" const zipmpi::Crypto* zipmpi_crypto_1();

using namespace zipmpi;

namespace {

// Case 14 of the submission of GCM to NIST: key, nonce and text are zeros.
TEST(Crypto, IsAes256Gcm) {
    const auto cipher = zipmpi_crypto_1()->new_sealing_cipher({});
    char sealed[32];
    ASSERT_TRUE(cipher->seal(0, "", std::string(16, '\0'), sealed));
    EXPECT_EQ(hex_of(sealed, sizeof sealed),
              "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919");
    char opened[16];
    EXPECT_TRUE(zipmpi_crypto_1()->new_opening_cipher({})->open(0, "", {sealed, sizeof sealed}, opened));
    EXPECT_FALSE(zipmpi_crypto_1()->new_opening_cipher({})->open(0, "", {sealed, 15}, opened));
}

TEST(Crypto, BothSidesOfAnExchangeAgree) {
    const auto a = zipmpi_crypto_1()->new_exchange();
    const auto b = zipmpi_crypto_1()->new_exchange();
    EXPECT_NE(a->public_key(), b->public_key());
    KeyBytes of_a{};
    KeyBytes of_b{};
    ASSERT_TRUE(a->agree(b->public_key(), of_a));
    ASSERT_TRUE(b->agree(a->public_key(), of_b));
    EXPECT_EQ(of_a, of_b);
    EXPECT_NE(of_a, KeyBytes{});
    EXPECT_FALSE(a->agree(PublicKey{}, of_a)); // a point of small order
}

} // namespace
