// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/record_channel.hpp"

#include <gtest/gtest.h>
#include <vector>

extern "C" const zipmpi::Crypto* zipmpi_crypto_1();

using namespace zipmpi;

namespace {

KeyBytes key_of(uint8_t fill) {
    KeyBytes key;
    key.fill(fill);
    return key;
}

class Records : public testing::Test {
  protected:
    explicit Records(uint64_t per_key = records_per_key)
        : sender(*zipmpi_crypto_1(), {key_of(1), key_of(2)}, per_key)
        , receiver(*zipmpi_crypto_1(), {key_of(2), key_of(1)}, per_key) {}
    std::string seal(std::string_view content) {
        std::string out;
        EXPECT_TRUE(sender.seal(content, out));
        return out;
    }
    RecordChannel sender, receiver;
    std::string text;
};

TEST_F(Records, TextsOfAnySizeArriveByteByByte) {
    std::string sent;
    for (const size_t n : {size_t{1}, size_t{100}, max_record_text, max_record_text + 1, size_t{100'000}}) {
        const std::string part(n, static_cast<char>('a' + n % 7));
        sent += part;
        const std::string records = seal(part);
        EXPECT_EQ(records.find(part.substr(0, 16)), std::string::npos);
        for (const char c : records) ASSERT_TRUE(receiver.open({&c, 1}, text));
    }
    EXPECT_EQ(text, sent);
}

TEST_F(Records, EqualTextsDiffer) { EXPECT_NE(seal("text"), seal("text")); }

TEST_F(Records, EveryFlippedBitIsRejected) {
    const std::string good = seal("some text");
    for (size_t bit = 0; bit < good.size() * 8; ++bit) {
        std::string bad = good;
        bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
        RecordChannel other(*zipmpi_crypto_1(), {key_of(2), key_of(1)});
        // A longer record is rejected when that many bytes have come.
        other.open(bad, text);
        EXPECT_FALSE(other.open(std::string(max_record_text + 64, 'x'), text)) << bit;
        EXPECT_TRUE(text.empty());
    }
}

TEST_F(Records, DroppedRepeatedAndReorderedAreRejected) {
    const std::string first = seal("first");
    const std::string second = seal("second");
    const std::string third = seal("third");
    for (const std::string& order : {second, first + third, first + first, second + first}) {
        RecordChannel other(*zipmpi_crypto_1(), {key_of(2), key_of(1)});
        EXPECT_FALSE(other.open(order, text));
        EXPECT_FALSE(other.open(third, text)); // and stays closed
    }
    EXPECT_EQ(text, "firstfirst"); // once in the second and once in the third order
}

TEST_F(Records, ReflectionIsRejected) {
    EXPECT_FALSE(sender.open(seal("text"), text)); // each direction has its key
}

TEST_F(Records, InvalidLengthIsRejectedAtOnce) {
    for (const uint32_t bytes : {0U, 16U, uint32_t{max_record_text} + 17, UINT32_MAX}) {
        RecordChannel other(*zipmpi_crypto_1(), {key_of(2), key_of(1)});
        EXPECT_FALSE(other.open({reinterpret_cast<const char*>(&bytes), sizeof bytes}, text));
    }
}

class RecordsOfShortKeys : public Records {
  protected:
    RecordsOfShortKeys()
        : Records(3) {}
};

TEST_F(RecordsOfShortKeys, KeysAreReplaced) {
    RecordChannel long_keys(*zipmpi_crypto_1(), {key_of(2), key_of(1)});
    std::string ignored;
    for (int i = 0; i < 100; ++i) {
        const std::string record = seal("text");
        ASSERT_TRUE(receiver.open(record, text)) << i;
        EXPECT_EQ(long_keys.open(record, ignored), i < 3) << i;
    }
    EXPECT_EQ(text.size(), 400U);
}

} // namespace
