// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "packing/layout.hpp"
#include "packing/layout_node.hpp"

#include <array>
#include <gtest/gtest.h>
#include <numeric>

namespace zipmpi::packing {
namespace {

using Kind = LayoutNode::Kind;

TEST(Layout, ContiguousDimensionsBecomeOneRun) {
    const PlacedNode block = repeat(repeat(run(8), 4, 8), 5, 32);
    EXPECT_EQ(block.node, run(160).node);
}

TEST(Layout, StridedDimensionsBecomeOneLoop) {
    const PlacedNode row = repeat(run(8), 4, 16);
    const PlacedNode grid = repeat(row, 3, 64);
    EXPECT_EQ(grid.node, repeat(run(8), 12, 16).node);
}

TEST(Layout, RegularListsBecomeLoops) {
    const NodePtr unit = run(4).node;
    EXPECT_EQ(sequence({{0, unit}, {12, unit}, {24, unit}}).node, repeat(run(4), 3, 12).node);
}

TEST(Layout, AdjacentRunsAreMerged) {
    const PlacedNode merged = sequence({{8, run(4).node}, {12, run(2).node}, {20, run(1).node}});
    EXPECT_EQ(merged.at, 8);
    ASSERT_EQ(merged.node->kind, Kind::list);
    EXPECT_EQ(merged.node->displacements, (std::vector<int64_t>{0, 12}));
    EXPECT_EQ(merged.node->starts, (std::vector<int64_t>{0, 6, 7}));
}

TEST(Layout, EqualLayoutsAreShared) {
    const size_t before = live_node_count();
    {
        const LayoutPtr a = compile(repeat(run(8), 4, 24), 100);
        const LayoutPtr b = compile(sequence({{0, run(8).node}, {24, repeat(run(8), 3, 24).node}}), 100);
        const LayoutPtr c = compile(repeat(run(8), 4, 24), 100);
        EXPECT_EQ(a, c);
        EXPECT_NE(a, nullptr);
        EXPECT_EQ(b->size, a->size);
    }
    EXPECT_EQ(live_node_count(), before);
}

TEST(Layout, EmptyLayouts) {
    EXPECT_EQ(run(0).node, nullptr);
    EXPECT_EQ(repeat(run(4), 0, 8).node, nullptr);
    EXPECT_EQ(sequence({{4, nullptr}}).node, nullptr);
    const LayoutPtr p = compile({}, 16);
    EXPECT_TRUE(p->contiguous(1000));
    char c = 'x';
    EXPECT_EQ(pack(*p, &c, 1000, 0, &c, 1), 0U);
}

TEST(Layout, NegativeStridesGoBackwards) {
    std::array<int, 8> data{};
    std::iota(data.begin(), data.end(), 0);
    const LayoutPtr p = compile(repeat(run(4), 4, -8), 4);
    std::array<int, 4> out{};
    EXPECT_EQ(pack(*p, &data[6], 1, 0, out.data(), 16), 16U);
    EXPECT_EQ(out, (std::array<int, 4>{6, 4, 2, 0}));
}

TEST(Layout, SegmentListStopsAtCapacity) {
    const LayoutPtr p = compile(repeat(run(4), 100, 8), 800);
    std::array<iovec, 3> iov{};
    std::vector<std::byte> memory(1600);
    uint64_t covered = 0;
    EXPECT_EQ(list_iov(*p, memory.data(), 2, 6, 1000, iov.data(), iov.size(), covered), 3U);
    EXPECT_EQ(covered, 10U);
    EXPECT_EQ(iov[0].iov_base, &memory[10]);
    EXPECT_EQ(iov[0].iov_len, 2U);
    EXPECT_EQ(iov[2].iov_base, &memory[24]);
}

TEST(Layout, SegmentsOfAdjacentElementsAreMerged) {
    const LayoutPtr p = compile(sequence({{0, run(4).node}, {8, run(8).node}}), 16);
    std::array<iovec, 8> iov{};
    std::vector<std::byte> memory(64);
    uint64_t covered = 0;
    EXPECT_EQ(list_iov(*p, memory.data(), 4, 0, 48, iov.data(), iov.size(), covered), 5U);
    EXPECT_EQ(covered, 48U);
    EXPECT_EQ(iov[1].iov_len, 12U);
}

} // namespace
} // namespace zipmpi::packing
