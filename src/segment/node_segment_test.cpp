// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Tables of a multi-host job: memory use.
#include "segment/node_segment.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

namespace zipmpi::segment {
namespace {

NodeTable many_nodes(int ranks, int per_node) {
    NodeTable nodes;
    for (int r = 0; r < ranks; ++r) nodes.node_of.push_back(static_cast<uint32_t>(r / per_node));
    nodes.count = static_cast<uint32_t>((ranks + per_node - 1) / per_node);
    nodes.own = 1;
    return nodes;
}

uint64_t memory_of(const NodeSegment& segment) {
    struct stat st {};
    fstat(segment.fd(), &st);
    return static_cast<uint64_t>(st.st_blocks) * 512;
}

TEST(NodeSegment, MillionRanksNeedOneSmallTablePerNode) {
    constexpr int ranks = 1'000'000;
    const std::vector<int> local{64, 65, 66, 67};
    NodeSegment few;
    NodeSegment many;
    Diagnostic why;
    const NodeTable two = many_nodes(8, 4);
    const NodeTable thousands = many_nodes(ranks, 64);
    ASSERT_TRUE(NodeSegment::make("test", {4, 5, 6, 7}, 8, few, why, &two)) << format(why);
    ASSERT_TRUE(NodeSegment::make("test", local, ranks, many, why, &thousands)) << format(why);
    EXPECT_LE(memory_of(many), memory_of(few) + ranks * sizeof(uint32_t) + 4096);
    EXPECT_EQ(many.node_of(999'999), 15624U);
    EXPECT_EQ(many.node_of(64), 1U);
    EXPECT_EQ(many.nodes(), 15625U);
}

} // namespace
} // namespace zipmpi::segment
