// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/protocol/deadline.hpp"

#include <gtest/gtest.h>

using namespace zipmpi::launch;

TEST(Deadline, EarliestIgnoresUnsetTimes) {
    EXPECT_EQ(earliest({0, 7, 3, 0}), 3U);
    EXPECT_EQ(earliest({0, 0}), 0U);
}

TEST(Deadline, IsTakenOnce) {
    uint64_t at = 5;
    EXPECT_FALSE(take_due(at, 4));
    EXPECT_TRUE(take_due(at, 5));
    EXPECT_EQ(at, 0U);
    EXPECT_FALSE(take_due(at, 9));
}

TEST(Deadline, WaitEndsAfterTheDeadline) {
    EXPECT_EQ(wait_ms(0, 100), -1);
    EXPECT_EQ(wait_ms(100, 100), 0);
    EXPECT_EQ(wait_ms(101, 100), 1);
    EXPECT_EQ(wait_ms(3'000'000, 0), 4);
    EXPECT_GT(wait_ms(UINT64_MAX, 0), 0);
}
