// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/process_mapping.hpp"

#include <gtest/gtest.h>
#include <random>
#include <string>

namespace zipmpi::boot {
namespace {

using Ranks = std::vector<int>;

Ranks local_ranks_of(std::string_view mapping, int rank, int size) {
    Ranks r;
    EXPECT_TRUE(parse_local_ranks(mapping, rank, size, r)) << mapping;
    return r;
}

TEST(ProcessMapping, OneNode) { EXPECT_EQ(local_ranks_of("(vector,(0,1,4))", 2, 4), (Ranks{0, 1, 2, 3})); }

TEST(ProcessMapping, BlocksOfSeveralNodes) {
    EXPECT_EQ(local_ranks_of("(vector,(0,2,2))", 3, 4), (Ranks{2, 3}));
    EXPECT_EQ(local_ranks_of("(vector,(0,2,2),(2,1,3))", 5, 7), (Ranks{4, 5, 6}));
}

TEST(ProcessMapping, RepeatsBlocksUntilAllRanksHaveANode) {
    EXPECT_EQ(local_ranks_of("(vector,(0,1,1))", 4, 5), (Ranks{0, 1, 2, 3, 4}));
    EXPECT_EQ(local_ranks_of("(vector,(0,2,1))", 1, 5), (Ranks{1, 3}));
    EXPECT_EQ(local_ranks_of("(vector,(0,1,1),(1,1,2),(0,1,1))", 0, 6), (Ranks{0, 3, 4}));
}

TEST(ProcessMapping, TruncatesTheLastBlock) {
    EXPECT_EQ(local_ranks_of("(vector,(0,3,4))", 4, 6), (Ranks{4, 5}));
}

TEST(ProcessMapping, AcceptsBlanksAndQuotes) {
    EXPECT_EQ(local_ranks_of(" ( vector , ( 0 , 1 , 2 ) ) ", 0, 2), (Ranks{0, 1}));
    EXPECT_EQ(local_ranks_of("\"(vector,(0,1,2))\"", 0, 2), (Ranks{0, 1}));
}

TEST(ProcessMapping, HugeNumbersAreCheap) {
    EXPECT_EQ(local_ranks_of("(vector,(2147483647,2147483647,2147483647))", 1, 2), (Ranks{0, 1}));
}

TEST(ProcessMapping, RejectsInvalidMappings) {
    for (const char* bad :
         {"", "vector", "(vector", "(vector)", "(vector,)", "(vector,())", "(vector,(0,1))",
          "(vector,(0,1,))", "(vector,(0,0,1))", "(vector,(0,1,0))", "(vector,(-1,1,1))", "(vector,(0,1,2)",
          "(vector,(0,1,2)))", "(vector,(0,1,99999999999))", "(matrix,(0,1,2))", "(vector,(0,1,2))x",
          "\"(vector,(0,1,2))", "(vector (0,1,2))", "(vector,(0;1;2))"}) {
        Ranks r;
        EXPECT_FALSE(parse_local_ranks(bad, 0, 2, r)) << bad;
    }
    Ranks r;
    EXPECT_FALSE(parse_local_ranks("(vector,(0,1,2))", 2, 2, r));
    EXPECT_FALSE(parse_local_ranks("(vector,(0,1,2))", -1, 2, r));
}

TEST(ProcessMapping, SurvivesRandomEdits) {
    std::mt19937 random(7); // fixed seed: reproducible
    const std::string good = "(vector,(0,2,2),(2,1,3))";
    const std::string letters = "(),0129 vector\"-;\n";
    for (int i = 0; i < 20000; ++i) {
        std::string text = good;
        for (int k = 0; k < 3; ++k) text[random() % text.size()] = letters[random() % letters.size()];
        text.resize(random() % (text.size() + 1));
        Ranks r;
        if (!parse_local_ranks(text, 3, 9, r)) continue;
        EXPECT_NE(std::find(r.begin(), r.end(), 3), r.end()) << text;
        EXPECT_LE(r.size(), 9U);
    }
}

TEST(RankList, ListsAndRanges) {
    Ranks r;
    EXPECT_TRUE(parse_rank_list("0,2,5-7", 8, r));
    EXPECT_EQ(r, (Ranks{0, 2, 5, 6, 7}));
    for (const char* bad : {"", ",", "0,", "1,0", "0,0", "8", "7-6", "0-8", "a", "0 1", "-1", "0-"})
        EXPECT_FALSE(parse_rank_list(bad, 8, r)) << bad;
}

} // namespace
} // namespace zipmpi::boot
