// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/protocol/messages.hpp"

#include <gtest/gtest.h>

using namespace zipmpi::launch;

namespace {

const PatternValues seventh{7, 100, 3, "n3"};

std::string expanded(std::string_view pattern, const PatternValues& values = seventh) {
    std::string out;
    EXPECT_TRUE(expand(pattern, values, out)) << pattern;
    return out;
}

TEST(OutputPolicy, ExpandsPatterns) {
    EXPECT_EQ(expanded("out.%r.%R.%g.%p.%h"), "out.7.07.0.3.n3");
    EXPECT_EQ(expanded("100%%"), "100%");
    EXPECT_EQ(expanded("plain"), "plain");
    EXPECT_GT(std::stol(expanded("%t")), 1'700'000'000);
}

TEST(OutputPolicy, PadsRanksToWidthOfLastRank) {
    EXPECT_EQ(expanded("%R", {0, 1, 0, ""}), "0");
    EXPECT_EQ(expanded("%R", {9, 10, 0, ""}), "9");
    EXPECT_EQ(expanded("%R", {9, 11, 0, ""}), "09");
}

TEST(OutputPolicy, ReportsUnknownPlaceholders) {
    std::string out;
    EXPECT_FALSE(expand("a%q", seventh, out));
    EXPECT_EQ(out, "%q");
    EXPECT_FALSE(expand("a%", seventh, out));
    EXPECT_EQ(out, "%");
}

TEST(OutputPolicy, DirectoryPatterns) {
    OutputPolicy p;
    set_output_directory(p, "50%r");
    EXPECT_EQ(expanded(p.out_file), "50%r/rank.07.out");
    EXPECT_EQ(expanded(p.err_file), "50%r/rank.07.err");
    set_openmpi_directory(p, "d", JobLevel::included);
    EXPECT_EQ(expanded(p.out_file), "d/1/rank.07/stdout");
    EXPECT_EQ(expanded(p.err_file), "d/1/rank.07/stderr");
    set_openmpi_directory(p, "50%r", JobLevel::omitted);
    EXPECT_EQ(expanded(p.out_file), "50%r/rank.07/stdout");
    EXPECT_EQ(expanded(p.err_file), "50%r/rank.07/stderr");
}

TEST(OutputPolicy, FilePatterns) {
    OutputPolicy p;
    set_output_files(p, "50%r");
    EXPECT_EQ(expanded(p.out_file), "50%r.07.out");
    EXPECT_EQ(expanded(p.err_file), "50%r.07.err");
}

StartRequest request_with(const OutputPolicy& policy) {
    StartRequest r;
    r.world_size = 4;
    r.map = NodeMap({{0, 4}});
    r.apps.resize(1);
    r.apps[0].ranks = 4;
    r.apps[0].argv = {"a"};
    r.output = policy;
    return r;
}

TEST(OutputPolicy, StartRequestRoundTrip) {
    OutputPolicy p;
    p.label = OutputPolicy::Label::fold;
    p.tag = OutputPolicy::Tag::pattern;
    p.tag_pattern = "%r: ";
    p.timestamps = true;
    p.out_file = "o.%r";
    p.err_file = "e.%r";
    p.copy_to_terminal = false;
    p.merge_stderr_to_stdout = true;
    p.stdin_for = OutputPolicy::Stdin::one;
    p.stdin_rank = 3;
    p.print_exit_codes = true;
    StartRequest out;
    ASSERT_TRUE(decode(encode(request_with(p)), out));
    EXPECT_EQ(out.output.label, p.label);
    EXPECT_EQ(out.output.tag, p.tag);
    EXPECT_EQ(out.output.tag_pattern, p.tag_pattern);
    EXPECT_TRUE(out.output.timestamps);
    EXPECT_EQ(out.output.out_file, p.out_file);
    EXPECT_EQ(out.output.err_file, p.err_file);
    EXPECT_FALSE(out.output.copy_to_terminal);
    EXPECT_TRUE(out.output.merge_stderr_to_stdout);
    EXPECT_EQ(out.output.stdin_for, p.stdin_for);
    EXPECT_EQ(out.output.stdin_rank, 3U);
    EXPECT_TRUE(out.output.print_exit_codes);
}

TEST(OutputPolicy, RejectsNumbersOutOfRange) {
    StartRequest out;
    OutputPolicy p;
    p.label = static_cast<OutputPolicy::Label>(3);
    EXPECT_FALSE(decode(encode(request_with(p)), out));
    p = {};
    p.tag = static_cast<OutputPolicy::Tag>(3);
    EXPECT_FALSE(decode(encode(request_with(p)), out));
    p = {};
    p.stdin_for = static_cast<OutputPolicy::Stdin>(3);
    EXPECT_FALSE(decode(encode(request_with(p)), out));
    p = {};
    p.stdin_rank = 4;
    EXPECT_FALSE(decode(encode(request_with(p)), out));
}

} // namespace
