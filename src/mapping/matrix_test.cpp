// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mapping/matrix.hpp"
#include "mapping/patterns.hpp"

#include <gtest/gtest.h>

namespace zipmpi::mapping {
namespace {

std::string parse_error(const std::string& text) {
    Matrix m;
    std::string wrong;
    return parse_matrix(text, m, wrong) ? "" : wrong;
}

TEST(Matrix, RoundTrip) {
    Matrix m;
    std::string wrong;
    ASSERT_TRUE(parse_matrix("zipmpi-matrix 1\nranks 4\n# from to\n0 1 100 819200 12 96\n\n3 0 1 2 3 4\r\n",
                             m, wrong))
        << wrong;
    EXPECT_EQ(m.ranks, 4U);
    ASSERT_EQ(m.pairs.size(), 2U);
    EXPECT_EQ(m.pairs[0].bytes, 819200U);
    EXPECT_EQ(m.pairs[1].coll_bytes, 4U);
    Matrix again;
    ASSERT_TRUE(parse_matrix(print(m), again, wrong)) << wrong;
    EXPECT_EQ(print(again), print(m));
}

TEST(Matrix, ErrorsNameTheLine) {
    EXPECT_EQ(parse_error("hello\n"), "line 1: it does not begin with 'zipmpi-matrix 1'");
    EXPECT_EQ(parse_error(""), "line 1: it does not begin with 'zipmpi-matrix 1'");
    EXPECT_EQ(parse_error("zipmpi-matrix 2\nranks 4\n"),
              "line 1: 'zipmpi-matrix 2' is not version 1 of the format");
    for (const char* second : {"", "ranks", "ranks 0", "ranks -1", "ranks 4 5", "ranks 10000000", "4"})
        EXPECT_EQ(parse_error("zipmpi-matrix 1\n" + std::string(second) + "\n"),
                  "line 2: it is not 'ranks N' with N from 1 to 1000000");
    const std::string head = "zipmpi-matrix 1\nranks 4\n#\n";
    EXPECT_EQ(parse_error(head + "0 1 2 3 4\n"), "line 4: '0 1 2 3 4' is not six numbers");
    EXPECT_EQ(parse_error(head + "0 1 2 3 4 5 6\n"), "line 4: '0 1 2 3 4 5 6' is more than six numbers");
    EXPECT_EQ(parse_error(head + "0 1 2 3 4 x\n"), "line 4: '0 1 2 3 4 x' is not six numbers");
    EXPECT_EQ(parse_error(head + "0 1 2 3 4 99999999999999999999\n").substr(0, 7), "line 4:");
    EXPECT_EQ(parse_error(head + "0 4 2 3 4 5\n"), "line 4: rank 4 is not one of 0 to 3");
}

TEST(Matrix, BothDirectionsMakeOneEdge) {
    const Matrix m{3, {{0, 1, 4, 4096, 0, 0}, {1, 0, 0, 0, 2, 4096}, {2, 2, 9, 9, 9, 9}}};
    const Graph g = graph_of(m);
    ASSERT_EQ(g.neighbors(0).size(), 1U);
    EXPECT_EQ(g.neighbors(0)[0].weight, 8.0);
    EXPECT_TRUE(g.neighbors(2).empty());
}

TEST(Patterns, HaveTheExpectedNeighbors) {
    Matrix m;
    ASSERT_TRUE(parse_pattern("halo:4x4", m));
    EXPECT_EQ(m.pairs.size(), 2U * 24);
    ASSERT_TRUE(parse_pattern("halo:2x2x2", m));
    EXPECT_EQ(m.pairs.size(), 2U * 12);
    ASSERT_TRUE(parse_pattern("ring:8", m));
    EXPECT_EQ(m.pairs.size(), 16U);
    ASSERT_TRUE(parse_pattern("all:8", m));
    EXPECT_EQ(m.pairs.size(), 56U);
    ASSERT_TRUE(parse_pattern("cg:16", m)); // two sums along rows, twelve mirrored ranks
    EXPECT_EQ(m.pairs.size(), 16U * 2 + 12);
    for (const char* known : {"cg:8", "mg:64", "lu:32", "random:20:4:7"})
        EXPECT_TRUE(parse_pattern(known, m)) << known;
    for (const char* unknown : {"", "halo", "halo:", "halo:0x4", "halo:4x", "cg:12", "cg:4:4", "random:8",
                                "tree:8", "halo:65536x65536", "all:99999999999"})
        EXPECT_FALSE(parse_pattern(unknown, m)) << unknown;
}

} // namespace
} // namespace zipmpi::mapping
