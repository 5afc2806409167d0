// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/param.hpp"
#include "core/api/tool.hpp"
#include "core/tool/matrix.hpp"

#include <cstring>
#include <gtest/gtest.h>

namespace zipmpi::core::tool {
namespace {

// Each test initializes and finalizes the interface, as consecutive processes would.
class Tool : public ::testing::Test {
  protected:
    void SetUp() override {
        ThreadLevel provided{};
        ASSERT_EQ(init(provided), ToolErr::success);
        EXPECT_EQ(provided, ThreadLevel::multiple);
    }
    void TearDown() override {
        const ToolLock lock;
        EXPECT_EQ(finalize(), ToolErr::success);
        EXPECT_EQ(lock.check_initialized(), ToolErr::not_initialized);
    }
};

TEST_F(Tool, EveryParameterIsAControlVariable) {
    const ToolLock lock;
    EXPECT_EQ(static_cast<size_t>(cvars()), all_params().size());
    for (const ParamBase* param : all_params()) {
        Variable v;
        CvarScope scope{};
        ASSERT_TRUE(cvar_info(find_cvar(param->name()), v, scope)) << param->name();
        EXPECT_EQ(v.name, param->name());
        EXPECT_EQ(scope != CvarScope::read_only, param->is_mutable());
    }
    EXPECT_EQ(find_cvar("no.such_param"), -1);
}

TEST_F(Tool, OnlyMutableStringsAreWritable) {
    const ToolLock lock;
    Cvar* file = nullptr;
    int count = 0;
    ASSERT_EQ(open_cvar(find_cvar("matrix.file"), file, count), ToolErr::success);
    std::vector<char> value(static_cast<size_t>(count));
    EXPECT_EQ(write_cvar(file, "a_file"), ToolErr::success);
    EXPECT_EQ(read_cvar(file, value.data()), ToolErr::success);
    EXPECT_STREQ(value.data(), "a_file");
    const std::string endless(static_cast<size_t>(count) + 1, 'x');
    EXPECT_EQ(write_cvar(file, endless.c_str()), ToolErr::invalid);
    EXPECT_EQ(write_cvar(file, ""), ToolErr::success);
    EXPECT_EQ(close_cvar(file), ToolErr::success);
    EXPECT_EQ(close_cvar(file), ToolErr::invalid_handle);
    Cvar* cell = nullptr;
    ASSERT_EQ(open_cvar(find_cvar("shm.cell_size"), cell, count), ToolErr::success);
    int64_t bytes = 0;
    EXPECT_EQ(count, 1);
    EXPECT_EQ(read_cvar(cell, &bytes), ToolErr::success);
    EXPECT_GT(bytes, 0);
    EXPECT_EQ(write_cvar(cell, &bytes), ToolErr::cvar_set_never);
}

TEST_F(Tool, HandlesBelongToTheirSession) {
    const ToolLock lock;
    PvarSession* one = nullptr;
    PvarSession* two = nullptr;
    Pvar* handle = nullptr;
    int count = 0;
    uint64_t value = 7;
    open_session(one);
    open_session(two);
    ASSERT_EQ(open_pvar(one, find_pvar("counter.sends", PvarClass::counter), nullptr, handle, count),
              ToolErr::success);
    EXPECT_EQ(read_pvar(two, handle, &value), ToolErr::invalid_handle);
    EXPECT_EQ(read_pvar(one, all_handles, &value), ToolErr::invalid_handle);
    EXPECT_EQ(read_pvar(one, handle, &value), ToolErr::success);
    EXPECT_EQ(value, 0U); // the runtime has not started
    value = 5;
    EXPECT_EQ(write_pvar(one, handle, &value), ToolErr::success);
    EXPECT_EQ(start_pvar(one, all_handles), ToolErr::success);
    EXPECT_EQ(read_and_reset_pvar(one, handle, &value), ToolErr::success);
    EXPECT_EQ(value, 5U);
    EXPECT_EQ(read_pvar(one, handle, &value), ToolErr::success);
    EXPECT_EQ(value, 0U);
    EXPECT_EQ(close_session(one), ToolErr::success);
    EXPECT_EQ(stop_pvar(one, handle), ToolErr::invalid_session);
    EXPECT_EQ(close_pvar(two, handle), ToolErr::invalid_handle);
}

TEST_F(Tool, LevelsCannotBeStoppedOrWritten) {
    const ToolLock lock;
    PvarSession* session = nullptr;
    Pvar* handle = nullptr;
    int count = 0;
    uint64_t value = 0;
    open_session(session);
    ASSERT_EQ(open_pvar(session, find_pvar("p2p.unexpected_queue_length", PvarClass::level), nullptr, handle,
                        count),
              ToolErr::success);
    EXPECT_EQ(start_pvar(session, handle), ToolErr::pvar_no_startstop);
    EXPECT_EQ(stop_pvar(session, handle), ToolErr::pvar_no_startstop);
    EXPECT_EQ(reset_pvar(session, handle), ToolErr::pvar_no_write);
    EXPECT_EQ(write_pvar(session, handle, &value), ToolErr::pvar_no_write);
    EXPECT_EQ(read_and_reset_pvar(session, handle, &value), ToolErr::pvar_no_atomic);
    EXPECT_EQ(stop_pvar(session, all_handles), ToolErr::success);
    EXPECT_EQ(reset_pvar(session, all_handles), ToolErr::success);
    EXPECT_EQ(open_pvar(session, pvars(), nullptr, handle, count), ToolErr::invalid_index);
    EXPECT_EQ(open_pvar(session, find_pvar("matrix.sent", PvarClass::counter), nullptr, handle, count),
              ToolErr::invalid_handle);
}

TEST_F(Tool, EveryVariableIsInOneCategory) {
    const ToolLock lock;
    std::vector<int> cvar_seen(static_cast<size_t>(cvars()));
    std::vector<int> pvar_seen(static_cast<size_t>(pvars()));
    for (const Category& c : categories()) {
        for (const int i : c.cvars) ++cvar_seen[static_cast<size_t>(i)];
        for (const int i : c.pvars) ++pvar_seen[static_cast<size_t>(i)];
        EXPECT_FALSE(c.help.empty());
    }
    EXPECT_EQ(cvar_seen, std::vector<int>(cvar_seen.size(), 1));
    EXPECT_EQ(pvar_seen, std::vector<int>(pvar_seen.size(), 1));
    const int before = category_changes();
    EXPECT_EQ(category_changes(), before);
}

TEST(Matrix, LinesAreSortedAndMissingRanksNamed) {
    std::vector<MatrixRow> rows(3);
    rows[0] = {true, {{2, {3, 24}, {0, 0}}, {0, {1, 5}, {2, 16}}}};
    rows[2] = {true, {{1, {0, 0}, {4, 32}}}};
    SizeCounts sizes{};
    sizes[0] = 7;
    sizes[size_histogram::class_of(100)] = 9;
    const std::string text = matrix_text(rows, sizes);
    EXPECT_EQ(text.rfind("zipmpi-matrix 1\nranks 3\n#", 0), 0U);
    EXPECT_NE(
        text.find("# rank 1 is missing\n0 0 1 5 2 16\n0 2 3 24 0 0\n2 1 0 0 4 32\n# size 0 7\n# size 64 9\n"),
        std::string::npos)
        << text;
}

} // namespace
} // namespace zipmpi::core::tool
