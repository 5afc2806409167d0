// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/frame.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace zipmpi::bridge {
namespace {

constexpr uint64_t job = 42;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

struct BuiltFrame {
    wire::Frame frame{};
    std::vector<std::byte> bytes;
    template <class T>
    void add(const T& sub) {
        const auto* at = reinterpret_cast<const std::byte*>(&sub);
        bytes.insert(bytes.end(), at, at + sizeof sub);
    }
    std::vector<std::byte> finish(size_t data_elsewhere = 0) {
        frame.bytes = static_cast<uint32_t>(bytes.size() + data_elsewhere);
        finalize(frame);
        std::vector<std::byte> all(sizeof frame);
        std::memcpy(all.data(), &frame, sizeof frame);
        all.insert(all.end(), bytes.begin(), bytes.end());
        return all;
    }
};

BuiltFrame a_message(uint64_t length) {
    BuiltFrame m;
    m.frame.type = wire::FrameType::message;
    m.frame.job = job;
    m.frame.from = 1;
    m.frame.to = 2;
    m.frame.length = length;
    m.frame.hops = wire::frame_hops;
    return m;
}

TEST(Frame, ChecksumIsCrc32c) {
    EXPECT_EQ(crc32c(bytes_of("123456789")), 0xe3069283U);
    EXPECT_EQ(crc32c({}), 0U);
    EXPECT_EQ(crc32c(bytes_of("6789"), crc32c(bytes_of("12345"))), 0xe3069283U);
}

TEST(Frame, MessageInOneOrTwoParts) {
    const std::vector<std::byte> data(100, std::byte{7});
    for (const bool apart : {false, true}) {
        BuiltFrame m = a_message(data.size());
        m.frame.flags = wire::frame_has_ack;
        m.add(wire::AckBlock{5, 6});
        m.add(wire::MessageHead{wire::MessageKind::eager, 0, 3, 0, 9, 0});
        m.bytes.insert(m.bytes.end(), 3, std::byte{1});
        if (!apart) m.bytes.insert(m.bytes.end(), data.begin(), data.end());
        const auto all = m.finish(apart ? data.size() : 0);
        FrameView v;
        ASSERT_TRUE(
            read_frame(all, apart ? std::span<const std::byte>(data) : std::span<const std::byte>(), job, v));
        EXPECT_TRUE(v.has_ack);
        EXPECT_EQ(v.ack.next, 5U);
        EXPECT_EQ(v.head.source, 9);
        EXPECT_EQ(v.payload.size(), 3U);
        ASSERT_EQ(v.data.size(), 100U);
        EXPECT_EQ(v.data[99], std::byte{7});
        EXPECT_FALSE(read_frame(all, apart ? std::span<const std::byte>(data) : std::span<const std::byte>(),
                                job + 1, v));
    }
}

TEST(Frame, InvalidFramesAreRejected) {
    FrameView v;
    BuiltFrame m = a_message(10); // announces ten bytes, has none
    m.add(wire::MessageHead{});
    EXPECT_FALSE(read_frame(m.finish(), {}, job, v));
    m = a_message(0);
    m.add(wire::MessageHead{wire::MessageKind::eager, 0, 41, 0, 0, 0});
    m.bytes.resize(m.bytes.size() + 41);
    EXPECT_FALSE(read_frame(m.finish(), {}, job, v)); // payload too long
    m = a_message(0);
    EXPECT_FALSE(read_frame(m.finish(), {}, job, v)); // no message head
    m = a_message(300000);
    m.frame.type = wire::FrameType::chunk;
    m.frame.offset = wire::frame_chunk;
    m.bytes.resize(100);
    EXPECT_FALSE(read_frame(m.finish(), {}, job, v)); // neither a whole chunk nor the last
    m.bytes.resize(wire::frame_chunk);
    EXPECT_TRUE(read_frame(m.finish(), {}, job, v));
    m.frame.offset = uint64_t{1} << 63;
    EXPECT_FALSE(read_frame(m.finish(), {}, job, v));
    wire::Grant grant{};
    EXPECT_FALSE(read_grant(v, grant));
}

TEST(Frame, AnyChangedHeaderBitIsDetected) {
    BuiltFrame m = a_message(0);
    m.add(wire::MessageHead{});
    const auto good = m.finish();
    FrameView v;
    ASSERT_TRUE(read_frame(good, {}, job, v));
    for (size_t bit = 0; bit < sizeof(wire::Frame) * 8; ++bit) {
        auto bad = good;
        bad[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
        EXPECT_FALSE(read_frame(bad, {}, job, v)) << bit;
    }
}

} // namespace
} // namespace zipmpi::bridge
