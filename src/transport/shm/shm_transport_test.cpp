// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Two transports on one segment, each in its own thread, like two ranks.
#include "transport/shm/test_ranks.hpp"

#include <random>

namespace zipmpi::transport::shm {
namespace {

TEST(Shm, ShortMessageArrivesWhole) {
    const auto segment = make_segment(2);
    ShmTransport a(segment, 0);
    ShmTransport b(segment, 1);
    const char text[] = "forty bytes fit inline in a ring slot!!";
    static_assert(sizeof text == 40);
    ASSERT_EQ(a.send_inline(1, envelope(5), bytes_of(text), sizeof text), SendStatus::ok);
    int got = 0;
    EXPECT_EQ(b.poll([&](const Arrival& m) {
        ++got;
        EXPECT_EQ(m.from, 0U);
        EXPECT_EQ(m.envelope.tag, 5);
        EXPECT_EQ(m.envelope.inline_bytes, 40);
        EXPECT_STREQ(reinterpret_cast<const char*>(m.payload), text);
        EXPECT_EQ(m.bulk, nullptr);
    }),
              1);
    EXPECT_EQ(got, 1);
    EXPECT_EQ(b.poll([](const Arrival&) { FAIL(); }), 0);
}

TEST(Shm, MediumMessageInSeveralSlots) {
    const auto segment = make_segment(2);
    ShmTransport a(segment, 0);
    ShmTransport b(segment, 1);
    std::vector<std::byte> data(wire::multislot_max + 1);
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 7);
    // every length, often enough that messages wrap around the end of the ring at every position
    for (int round = 0; round < 5; ++round)
        for (size_t n = wire::inline_max + 1; n <= data.size(); ++n) {
            ASSERT_EQ(a.send_bulk(1, envelope(9), nullptr, 0, {data.data(), n}), SendStatus::ok);
            int got = 0;
            b.poll([&](const Arrival& m) {
                ++got;
                EXPECT_EQ(m.bulk_bytes, n);
                EXPECT_EQ(std::memcmp(m.bulk, data.data(), n), 0);
            });
            ASSERT_EQ(got, 1);
        }
}

TEST(Shm, FullRingBlocksAndRecovers) {
    const auto segment = make_segment(2);
    ShmTransport a(segment, 0);
    ShmTransport b(segment, 1);
    for (uint32_t i = 0; i < wire::ring_slots; ++i)
        ASSERT_EQ(a.send_inline(1, envelope(1), nullptr, 0), SendStatus::ok);
    EXPECT_EQ(a.send_inline(1, envelope(1), nullptr, 0), SendStatus::would_block);
    EXPECT_EQ(b.poll([](const Arrival&) {}), static_cast<int>(wire::ring_slots));
    EXPECT_EQ(a.send_inline(1, envelope(1), nullptr, 0), SendStatus::ok);
}

TEST(Shm, CellsRunOutAndReturn) {
    const auto segment = make_segment(2);
    ShmTransport a(segment, 0);
    ShmTransport b(segment, 1);
    std::vector<std::byte> data(a.caps().bulk_max, std::byte{7});
    uint32_t sent = 0;
    while (a.send_bulk(1, envelope(1), nullptr, 0, {data.data(), data.size()}) == SendStatus::ok) {
        ASSERT_LE(++sent, segment.geometry().cells_per_rank);
    }
    EXPECT_EQ(sent, std::min(segment.geometry().cells_per_rank, wire::ring_slots));
    int seen = 0;
    b.poll([&](const Arrival& m) {
        seen += m.bulk_bytes == data.size() && m.bulk[data.size() - 1] == std::byte{7};
    });
    EXPECT_EQ(seen, static_cast<int>(sent));
    EXPECT_EQ(a.send_bulk(1, envelope(1), nullptr, 0, {data.data(), data.size()}), SendStatus::ok);
}

// An owner that prefetches at any moment gets each cell back once, and none while it is read.
TEST(Shm, PrefetchedCellsStayValid) {
    const auto segment = make_segment(2);
    ShmTransport a(segment, 0);
    ShmTransport b(segment, 1);
    std::mt19937 random(99);
    std::vector<std::byte> data(5000);
    uint32_t sent = 0;
    uint32_t got = 0;
    const auto poll_receiver = [&] {
        b.poll([&](const Arrival& m) {
            for (size_t i = 0; i < m.bulk_bytes; ++i) ASSERT_EQ(m.bulk[i], static_cast<std::byte>(got));
            ++got;
        });
    };
    for (int i = 0; i < 20000; ++i) {
        std::fill(data.begin(), data.end(), static_cast<std::byte>(sent));
        const size_t bytes = 300 + random() % 4000;
        if (a.send_bulk(1, envelope(1), nullptr, 0, {data.data(), bytes, nullptr, nullptr, random() % 9}) ==
            SendStatus::ok)
            ++sent;
        if (random() % 3 == 0) poll_receiver();
        for (auto n = random() % 20; n > 0; --n) a.prefetch_cells();
    }
    poll_receiver();
    EXPECT_EQ(got, sent);
    EXPECT_GT(sent, 15000U);
}

TEST(Shm, InvalidSlotsAreDropped) {
    const auto segment = make_segment(2);
    ShmTransport b(segment, 1);
    ASSERT_TRUE(segment.reserve(segment.geometry().ring_offset(1, 0), sizeof(wire::Ring)));
    wire::Ring& ring = segment.ring(1, 0);
    std::mt19937 random(4711);
    for (uint32_t i = 0; i < wire::ring_slots; ++i) {
        for (size_t k = 0; k < wire::inline_max; ++k)
            ring.slot[i].payload[k] = static_cast<std::byte>(random());
        ring.slot[i].envelope = {
            wire::MessageKind::eager, wire::flag_cell, static_cast<uint8_t>(random()), 0, 1, 0, 0, 0};
        if (i + 1 == wire::ring_slots) ring.slot[i].envelope = envelope(4711); // valid
        ring.slot[i].seq.store(i + 1);
    }
    segment.block(1).arrival_bitmap[0].store(~uint64_t{0}); // includes bits of ranks that do not exist
    int delivered = 0;
    bool last_came = false;
    b.poll([&](const Arrival& m) {
        ++delivered;
        last_came = m.envelope.tag == 4711;
        EXPECT_LE(m.envelope.inline_bytes, wire::inline_max_with_cell);
        EXPECT_LE(m.bulk_bytes, b.caps().bulk_max);
    });
    EXPECT_LT(delivered, 5);
    EXPECT_TRUE(last_came) << "the ring was not read to its end";
}

TEST(Shm, PeerOfFindsWorldRanks) {
    segment::NodeSegment segment;
    Diagnostic why;
    ASSERT_TRUE(segment::NodeSegment::make("test", {3, 8, 9, 40}, 64, segment, why));
    const ShmTransport t(segment, 2);
    EXPECT_EQ(t.peer_of(3), 0);
    EXPECT_EQ(t.peer_of(40), 3);
    EXPECT_EQ(t.peer_of(4), -1);
    EXPECT_EQ(t.peer_of(63), -1);
}

TEST(Shm, PeersOfConsecutiveWorldRanks) {
    segment::NodeSegment segment;
    Diagnostic why;
    ASSERT_TRUE(segment::NodeSegment::make("test", {5, 6, 7}, 64, segment, why)) << format(why);
    const ShmTransport t(segment, 0);
    EXPECT_EQ(t.peer_of(4), -1);
    EXPECT_EQ(t.peer_of(5), 0);
    EXPECT_EQ(t.peer_of(7), 2);
    EXPECT_EQ(t.peer_of(8), -1);
}

} // namespace
} // namespace zipmpi::transport::shm
