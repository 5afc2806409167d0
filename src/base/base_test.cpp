// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/counters.hpp"
#include "base/diagnostic.hpp"
#include "base/err.hpp"
#include "base/param.hpp"
#include "base/recorder.hpp"
#include "base/stable_sort.hpp"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>

namespace zipmpi {
namespace {

Param<int64_t> test_size{"test.cell_size", 16 * KiB, {1 * KiB, 1 * MiB}, Unit::bytes, Level::developer,
                         Scope::local,     "a size"};
Param<bool> test_flag{"test.flag", false, Level::developer, Scope::local, "a flag"};
Param<std::string> test_word{"test.word", "auto", "auto|ring|tree", Level::developer, Scope::local, "a word"};

std::vector<ParamError> load(std::vector<const char*> env) {
    env.push_back(nullptr);
    return load_params(env.data());
}

TEST(Err, EveryClassHasNameAndText) {
    for (int i = 0; i < static_cast<int>(Err::last_); ++i) {
        EXPECT_TRUE(err_name(static_cast<Err>(i)).starts_with("MPI"));
        EXPECT_FALSE(err_text(static_cast<Err>(i)).empty());
    }
    EXPECT_EQ(err_name(Err::truncate), "MPI_ERR_TRUNCATE");
    EXPECT_EQ(err_name(Err::success), "MPI_SUCCESS");
}

TEST(Err, DetailIsPerThread) {
    EXPECT_EQ(fail(Err::tag, "do this", "tag %d", -5), Err::tag);
    EXPECT_EQ(last_error().cls, Err::tag);
    EXPECT_STREQ(last_error().why, "tag -5");
    EXPECT_STREQ(last_error().fix, "do this");
}

TEST(Diagnostic, HasFourParts) {
    EXPECT_EQ(format({"it failed", "here", "because", "do that"}, "prog"),
              "prog: it failed\n  where: here\n  why:   because\n  fix:   do that\n");
}

TEST(Param, ReadsEnvironment) {
    EXPECT_TRUE(load({"ZIPMPI_TEST_CELL_SIZE=64k", "ZIPMPI_TEST_FLAG=on", "ZIPMPI_TEST_WORD=ring", "PATH=x"})
                    .empty());
    EXPECT_EQ(test_size.get(), 64 * KiB);
    EXPECT_EQ(test_size.value_text(), "64k");
    EXPECT_EQ(test_size.origin(), Origin::environment);
    EXPECT_TRUE(test_flag);
    EXPECT_EQ(test_word.get(), "ring");
}

TEST(Param, RejectsBadValuesWithReason) {
    for (const char* bad :
         {"ZIPMPI_TEST_CELL_SIZE=1", "ZIPMPI_TEST_CELL_SIZE=abc", "ZIPMPI_TEST_CELL_SIZE=4q",
          "ZIPMPI_TEST_CELL_SIZE=99999999999g", "ZIPMPI_TEST_FLAG=maybe", "ZIPMPI_TEST_WORD=star"}) {
        const auto faults = load({bad});
        ASSERT_EQ(faults.size(), 1U) << bad;
        EXPECT_FALSE(faults[0].why.empty());
        EXPECT_FALSE(faults[0].fix.empty());
    }
}

TEST(Param, UnknownNameSuggestsTheNearest) {
    const auto faults = load({"ZIPMPI_TEST_CELL_SISE=64k"});
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_NE(faults[0].fix.find("ZIPMPI_TEST_CELL_SIZE"), std::string::npos);
}

TEST(Param, InternalVariablesAreNotUnknown) {
    declare_internal_variable("ZIPMPI_TEST_INTERNAL");
    EXPECT_TRUE(load({"ZIPMPI_TEST_INTERNAL=1"}).empty());
}

TEST(Param, EnvironmentOverridesFileOverridesDefault) {
    char path[] = "/tmp/zipmpi_param_XXXXXX";
    const int fd = mkstemp(path);
    ASSERT_GE(fd, 0);
    std::ofstream(path)
        << "# comment\n\ntest.word = \"tree\"\ntest.cell_size = 32k\nnonsense\ntest.wort = x\n";
    const std::string config = std::string("ZIPMPI_CONFIG=") + path;
    const auto faults = load({config.c_str(), "ZIPMPI_TEST_CELL_SIZE=8k"});
    EXPECT_EQ(faults.size(), 2U);
    EXPECT_EQ(test_word.get(), "tree");
    EXPECT_EQ(test_word.origin(), Origin::file);
    EXPECT_EQ(test_size.get(), 8 * KiB);
    close(fd);
    unlink(path);
}

TEST(Recorder, KeepsCallsAndNames) {
    Recorder r{};
    record_enter(r, 7, 3, 99, 1);
    EXPECT_EQ(r.current_function.load(), 7U);
    EXPECT_EQ(r.calls[0].tag.load(), 99);
    record_leave(r);
    EXPECT_EQ(r.current_function.load(), 0U);
    const auto kept = [&](uint32_t context) {
        for (const CommName& c : r.comms)
            if (c.context.load() == context) return std::string(c.name);
        return std::string();
    };
    record_comm_name(r, 5, "rows");
    record_comm_name(r, 6, "columns");
    record_comm_name(r, 5, "lines");
    EXPECT_EQ(kept(5), "lines");
    EXPECT_EQ(kept(6), "columns");
    record_comm_freed(r, 5);
    EXPECT_EQ(kept(5), "");
    const std::string longest = "some communicator with a name that is far too long for it";
    for (uint32_t i = 1; i < 100; ++i) record_comm_name(r, i, longest.c_str());
    EXPECT_EQ(kept(99), longest.substr(0, sizeof r.comms[0].name - 1));
    for (const CommName& c : r.comms) EXPECT_LT(std::strlen(c.name), sizeof c.name);
}

TEST(StableSort, KeepsTheOrderOfEqualElements) {
    std::vector<std::pair<int, int>> list; // key, index
    for (int i = 0; i < 1000; ++i) list.emplace_back(i * 7919 % 10, i);
    stable_sort(list, [](const auto& a, const auto& b) { return a.first < b.first; });
    ASSERT_EQ(list.size(), 1000U);
    EXPECT_TRUE(std::is_sorted(list.begin(), list.end())); // by key, then by index
}

TEST(Counters, AddUp) {
    Counters c{};
    c.add(Counter::sends);
    c.add(Counter::sends, 4);
    EXPECT_EQ(c.get(Counter::sends), 5U);
}

} // namespace
} // namespace zipmpi
