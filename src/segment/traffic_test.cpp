// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "segment/traffic.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

namespace zipmpi::segment {
namespace {

uint64_t memory_of(const NodeSegment& segment) {
    struct stat st {};
    fstat(segment.fd(), &st);
    return static_cast<uint64_t>(st.st_blocks) * 512;
}

TEST(Traffic, ReaderSeesTheTotalsOfTheWriter) {
    NodeSegment segment;
    Diagnostic why;
    ASSERT_TRUE(NodeSegment::make("test", {0, 1, 2}, 3, segment, why)) << format(why);
    TrafficWriter writer(segment, 1);
    const TrafficReader reader(segment);
    EXPECT_TRUE(reader.row(1).empty());
    wire::PeerTraffic& to_2 = writer.row_for(2);
    wire::PeerTraffic& to_0 = writer.row_for(0);
    to_2.count[wire::PeerTraffic::point_to_point].add(100);
    to_2.count[wire::PeerTraffic::point_to_point].add(11);
    to_0.count[wire::PeerTraffic::collective].add(7);
    const std::vector<PeerTotals> row = reader.row(1);
    ASSERT_EQ(row.size(), 2U);
    EXPECT_EQ(row[0].to, 2);
    EXPECT_EQ(row[0].point_to_point, (PeerTotals::Totals{2, 111}));
    EXPECT_EQ(row[0].collective, (PeerTotals::Totals{}));
    EXPECT_EQ(row[1].to, 0);
    EXPECT_EQ(row[1].collective, (PeerTotals::Totals{1, 7}));
    EXPECT_EQ(reader.find(1, 0), &to_0);
    EXPECT_EQ(reader.find(1, 1), nullptr);
    EXPECT_TRUE(reader.row(0).empty());
}

TEST(Traffic, MemoryGrowsWithUsedPeers) {
    constexpr int ranks = 100'000;
    NodeTable nodes;
    for (int r = 0; r < ranks; ++r) nodes.node_of.push_back(static_cast<uint32_t>(r / 4));
    nodes.count = ranks / 4;
    NodeSegment segment;
    Diagnostic why;
    ASSERT_TRUE(NodeSegment::make("test", {0, 1, 2, 3}, ranks, segment, why, &nodes)) << format(why);
    const uint64_t before = memory_of(segment);
    TrafficWriter writer(segment, 3);
    constexpr int peers = 1000;
    for (int i = 0; i < peers; ++i) writer.row_for(ranks - 1 - i * 7).count[0].add(1);
    EXPECT_LE(memory_of(segment) - before, peers * sizeof(wire::PeerTraffic) + 2 * wire::page_size);
    EXPECT_EQ(TrafficReader(segment).row(3).size(), static_cast<size_t>(peers));
    EXPECT_EQ(TrafficReader(segment).row(3).back().to, ranks - 1 - (peers - 1) * 7);
}

TEST(Traffic, InvalidPeersUseTheOverflowRow) {
    NodeSegment segment;
    Diagnostic why;
    ASSERT_TRUE(NodeSegment::make("test", {0}, 1, segment, why)) << format(why);
    TrafficWriter writer(segment, 0);
    writer.row_for(0).count[0].add(1);
    writer.row_for(1).count[0].add(1);
    EXPECT_EQ(TrafficReader(segment).row(0).size(), 1U);
}

} // namespace
} // namespace zipmpi::segment
