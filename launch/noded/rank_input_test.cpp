// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/rank_input.hpp"

#include <csignal>
#include <fcntl.h>
#include <gtest/gtest.h>

using namespace zipmpi;
using zipmpi::launch::RankInput;

namespace {

class RankInputTest : public testing::Test {
  protected:
    RankInputTest() { signal(SIGPIPE, SIG_IGN); }
    os::Fd add_reader() {
        int ends[2];
        EXPECT_EQ(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
        input.add_reader(os::Fd(ends[1]));
        return os::Fd(ends[0]);
    }
    static std::string read_all(const os::Fd& fd) {
        std::string all;
        char buffer[4096];
        for (ssize_t n = 0; (n = read(fd.get(), buffer, sizeof buffer)) > 0;)
            all.append(buffer, static_cast<size_t>(n));
        return all;
    }
    RankInput input;
};

TEST_F(RankInputTest, EveryReaderGetsAllInput) {
    const os::Fd a = add_reader(), b = add_reader();
    input.add("one ");
    EXPECT_EQ(input.write_some(), 4U);
    input.add("two");
    EXPECT_EQ(input.write_some(), 3U);
    EXPECT_EQ(read_all(a), "one two");
    EXPECT_EQ(read_all(b), "one two");
}

TEST_F(RankInputTest, SlowestReaderLimits) {
    const os::Fd fast = add_reader(), slow = add_reader();
    const std::string much(100'000, 'x'); // more than the capacity of a pipe
    input.add(much);
    const size_t first = input.write_some();
    EXPECT_LT(first, much.size());
    EXPECT_EQ(read_all(fast).size(), first);
    EXPECT_EQ(input.write_some(), 0U); // the other one still waits
    EXPECT_FALSE(input.has_backlog(0));
    EXPECT_TRUE(input.has_backlog(1));
    size_t got = read_all(slow).size();
    EXPECT_EQ(first + input.write_some(), much.size());
    got += read_all(slow).size();
    EXPECT_EQ(got, much.size());
}

TEST_F(RankInputTest, ClosedReaderDoesNotBlockOthers) {
    const os::Fd stays = add_reader();
    os::Fd leaves = add_reader();
    leaves.reset();
    input.add("text");
    EXPECT_EQ(input.write_some(), 4U);
    EXPECT_EQ(input.fd(1), -1);
    EXPECT_EQ(read_all(stays), "text");
    input.drop(0);
    EXPECT_FALSE(input.has_readers());
    input.add("discarded");
    EXPECT_EQ(input.write_some(), 0U);
}

TEST_F(RankInputTest, EndFollowsLastByte) {
    const os::Fd a = add_reader();
    input.add("last");
    input.end();
    EXPECT_EQ(input.write_some(), 4U);
    EXPECT_EQ(read_all(a), "last");
    char c = 0;
    EXPECT_EQ(read(a.get(), &c, 1), 0);
}

} // namespace
