// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/hex.hpp"
#include "base/key_schedule.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

using namespace zipmpi;

namespace {

std::string hex(std::span<const uint8_t> bytes) { return hex_of(bytes.data(), bytes.size()); }

std::vector<uint8_t> numbers(size_t n) {
    std::vector<uint8_t> bytes(n);
    for (size_t i = 0; i < n; ++i) bytes[i] = static_cast<uint8_t>(i);
    return bytes;
}

// RFC 5869, cases 1 and 3: the pseudorandom key, and the first block of the output.
TEST(KeySchedule, IsHkdf) {
    const std::vector<uint8_t> secret(22, 0x0b);
    std::string salt;
    for (char c = 0; c < 13; ++c) salt += c;
    std::string info;
    for (int c = 0xf0; c < 0xfa; ++c) info += static_cast<char>(c);
    const Digest first = hkdf_extract(salt, secret);
    EXPECT_EQ(hex(first), "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5");
    EXPECT_EQ(hex(hkdf_expand(first, info)),
              "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf");
    const Digest third = hkdf_extract({}, secret);
    EXPECT_EQ(hex(third), "19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04");
    EXPECT_EQ(hex(hkdf_expand(third, {})),
              "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d");
}

// Computed independently (Python's hmac). A change of a label is a change of the protocol.
TEST(KeySchedule, KnownKeys) {
    const std::vector<uint8_t> secret = numbers(32);
    const std::pair<KeyPurpose, const char*> known[] = {
        {KeyPurpose::control, "b35c78f3f4dbc29448542d64680d95f0107514f46e9dceec39a4e5e21b38f4e0"},
        {KeyPurpose::control_records, "28b9b35bdcd855a149d1637629a3f8a2cb34d59f8ffff7dd2109f303a6e0e9c8"},
        {KeyPurpose::peer, "73f5db88a5e57bac2548b4a2ab7f82e65abc23305307febd1f85f5ea1608fda3"},
        {KeyPurpose::hop, "190d8a2ac8d034dba6a3132877f0a5ac4232cc27e9b29fa2f5f7e321116cb4ef"},
        {KeyPurpose::end_to_end, "ed40d68b3e4bc1582713c3141dfd06cd8c2ae2ab4564990eacea2fb093e74f1b"},
        {KeyPurpose::end_to_end_pair, "12751be2f468ac88208f42be634230b0d4336c225137e265aa460785cde61c32"},
        {KeyPurpose::inter_job, "873c9db42d149d0627a41885715f6a2bb0b7b502e7c86ea641746f71baaf3512"},
    };
    std::set<std::string> all;
    for (const auto& [purpose, key] : known) {
        EXPECT_EQ(hex(derive_key(secret, purpose)), key);
        all.insert(key);
    }
    EXPECT_EQ(all.size(), std::size(known));
    EXPECT_EQ(hex(derive_key(secret, KeyPurpose::hop, "context")),
              "b87120bfb7739e90c204e7746d2fb80184e4d9ff977ba279798064ca04042ff4");
}

TEST(KeySchedule, WipedKeysAreZero) {
    KeyBytes key = derive_key(numbers(32), KeyPurpose::control);
    wipe(key);
    EXPECT_TRUE(std::ranges::all_of(key, [](uint8_t b) { return b == 0; }));
}

} // namespace
