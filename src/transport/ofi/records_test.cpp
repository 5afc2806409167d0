// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/records.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace zipmpi::transport::ofi {
namespace {

using Bytes = std::vector<std::byte>;

Bytes record_bytes(uint32_t data_bytes, uint8_t inline_bytes, size_t follow) {
    wire::OfiRecord head{};
    head.kind = wire::OfiRecordKind::message;
    head.data_bytes = data_bytes;
    head.envelope.inline_bytes = inline_bytes;
    head.envelope.flags = 0xff;
    Bytes bytes(sizeof head + follow, std::byte{7});
    std::memcpy(bytes.data(), &head, sizeof head);
    return bytes;
}

TEST(Records, SeveralInAMessage) {
    Bytes bytes = record_bytes(5, 3, 8);
    const Bytes second = record_bytes(0, 0, 0);
    bytes.insert(bytes.end(), second.begin(), second.end());
    std::span<const std::byte> rest = bytes;
    Record record;
    ASSERT_TRUE(next_record(rest, record));
    EXPECT_EQ(record.payload.size(), 3U);
    EXPECT_EQ(record.data.size(), 5U);
    EXPECT_EQ(record.head.envelope.flags,
              wire::flags_between_hosts); // the others would be trusted within a node
    ASSERT_TRUE(next_record(rest, record));
    EXPECT_TRUE(record.payload.empty() && record.data.empty() && rest.empty());
    EXPECT_FALSE(next_record(rest, record));
}

TEST(Records, InvalidLengthsAreRejected) {
    const Bytes invalid[] = {
        record_bytes(9, 3, 8),                      // more data than there is
        record_bytes(UINT32_MAX, 0, 8),             //
        record_bytes(0, 9, 8),                      // more payload than there is
        record_bytes(0, wire::inline_max + 1, 100), // more payload than a message may have
        Bytes(sizeof(wire::OfiRecord) - 1),
        Bytes(),
    };
    for (const Bytes& bytes : invalid) {
        std::span<const std::byte> rest = bytes;
        Record record;
        EXPECT_FALSE(next_record(rest, record)) << bytes.size();
    }
}

} // namespace
} // namespace zipmpi::transport::ofi
