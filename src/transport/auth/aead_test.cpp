// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/auth/aead.hpp"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <memory>
#include <vector>

extern "C" zipmpi::transport::auth::Aead*
zipmpi_ucx_open_sealer_3(std::span<const uint8_t, zipmpi::wire::key_bytes> key);

namespace zipmpi::transport::auth {
namespace {

using Bytes = std::vector<std::byte>;

struct Sealed {
    Bytes text;
    uint8_t tag[wire::aead_tag_bytes];
};

class Sealing : public testing::Test {
  protected:
    static std::unique_ptr<Aead> with_key(uint8_t first) {
        static std::array<uint8_t, wire::key_bytes> keys[256]; // outlive their users
        keys[first] = {first, 2, 3};
        return std::unique_ptr<Aead>(zipmpi_ucx_open_sealer_3(keys[first]));
    }
    static Bytes bytes(size_t n, int first) {
        Bytes b(n);
        for (size_t i = 0; i < n; ++i) b[i] = static_cast<std::byte>(i * 7 + static_cast<size_t>(first));
        return b;
    }
    Sealed seal(const Aead::AeadContext& about, const Bytes& head, const Bytes& data) {
        Sealed s{head, {}};
        s.text.resize(head.size() + data.size());
        EXPECT_TRUE(aead_->seal(about, std::span(s.text).first(head.size()), data,
                                s.text.data() + head.size(), s.tag));
        return s;
    }
    std::unique_ptr<Aead> aead_ = with_key(1);
    Bytes aad_ = bytes(64, 3);
    Aead::AeadContext context_{3, 5, 8, 17, aad_};
};

TEST_F(Sealing, RoundTrip) {
    for (const size_t n : {size_t{0}, size_t{1}, size_t{15}, size_t{16}, size_t{4097}, wire::frame_chunk}) {
        const Bytes head = bytes(12, 1);
        const Bytes data = bytes(n, 9);
        Sealed s = seal({3, 5, 8, n, aad_}, head, data);
        Bytes plain = head;
        plain.insert(plain.end(), data.begin(), data.end());
        EXPECT_NE(s.text, plain);
        EXPECT_TRUE(with_key(1)->open({3, 5, 8, n, aad_}, {std::span(s.text).first(5), s.text.data()},
                                      {std::span(s.text).subspan(5), s.text.data() + 5}, s.tag));
        EXPECT_EQ(s.text, plain);
    }
}

TEST_F(Sealing, SameTextGivesDifferentCiphertexts) {
    const Bytes data = bytes(1000, 4);
    EXPECT_NE(seal({3, 5, 8, 1, aad_}, {}, data).text, seal({3, 5, 8, 2, aad_}, {}, data).text);
    EXPECT_NE(seal({3, 5, 8, 1, aad_}, {}, data).text, seal({5, 3, 8, 1, aad_}, {}, data).text);
}

TEST_F(Sealing, ModificationIsDetected) {
    const Sealed good = seal(context_, bytes(12, 1), bytes(100, 2));
    const auto opens = [&](Aead& by, const Aead::AeadContext& about, Sealed s) {
        Bytes to(s.text.size());
        return by.open(about, {s.text, to.data()}, {}, s.tag);
    };
    EXPECT_TRUE(opens(*aead_, context_, good));
    for (size_t i = 0; i < good.text.size(); ++i) {
        Sealed bad = good;
        bad.text[i] ^= std::byte{1};
        EXPECT_FALSE(opens(*aead_, context_, bad)) << i;
    }
    for (size_t i = 0; i < wire::aead_tag_bytes; ++i) {
        Sealed bad = good;
        bad.tag[i] ^= 1;
        EXPECT_FALSE(opens(*aead_, context_, bad)) << i;
    }
    Bytes other = aad_;
    other[5] ^= std::byte{128};
    EXPECT_FALSE(opens(*aead_, {3, 5, 8, 17, other}, good));
    EXPECT_FALSE(opens(*aead_, {3, 5, 8, 18, aad_}, good));
    EXPECT_FALSE(opens(*aead_, {5, 3, 8, 17, aad_}, good));
    EXPECT_FALSE(opens(*aead_, {3, 5, 9, 17, aad_}, good));
    EXPECT_FALSE(opens(*with_key(2), context_, good));
    EXPECT_TRUE(opens(*aead_, context_, good)); // forged salts do not replace that of the sender
}

// Two programs one after the other in the place of one rank count from 1 with one end-to-end key.
TEST_F(Sealing, SecondProcessOfRankRepeatsNoKeystream) {
    const std::unique_ptr<Aead> second = with_key(1);
    EXPECT_NE(second->salt(), aead_->salt());
    const Bytes data = bytes(64, 4);
    const Sealed first_text = seal({3, 5, aead_->salt(), 1, aad_}, {}, data);
    Bytes to(data.size());
    uint8_t tag[wire::aead_tag_bytes];
    ASSERT_TRUE(second->seal({3, 5, second->salt(), 1, aad_}, {}, data, to.data(), tag));
    EXPECT_NE(first_text.text, to);
    // A receiver follows the change.
    const std::unique_ptr<Aead> receiver = with_key(1);
    Bytes plain(data.size());
    EXPECT_TRUE(
        receiver->open({3, 5, aead_->salt(), 1, aad_}, {first_text.text, plain.data()}, {}, first_text.tag));
    EXPECT_TRUE(receiver->open({3, 5, second->salt(), 1, aad_}, {to, plain.data()}, {}, tag));
    EXPECT_EQ(plain, data);
}

} // namespace
} // namespace zipmpi::transport::auth
