// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/attached_ranges.hpp"

#include <gtest/gtest.h>

using zipmpi::proto::rma::AttachedRanges;

namespace {

TEST(AttachedRanges, RejectsOverlap) {
    AttachedRanges a;
    EXPECT_TRUE(a.attach(1000, 100));
    EXPECT_FALSE(a.attach(1000, 100));
    EXPECT_FALSE(a.attach(1099, 1));
    EXPECT_FALSE(a.attach(900, 101));
    EXPECT_TRUE(a.attach(900, 100));
    EXPECT_TRUE(a.attach(1100, 1));
}

TEST(AttachedRanges, DetachesByBase) {
    AttachedRanges a;
    EXPECT_TRUE(a.attach(1000, 100));
    EXPECT_FALSE(a.detach(1001));
    EXPECT_TRUE(a.detach(1000));
    EXPECT_FALSE(a.detach(1000));
    EXPECT_FALSE(a.contains(1000, 1));
}

TEST(AttachedRanges, JoinsAdjacentRanges) {
    AttachedRanges a;
    EXPECT_TRUE(a.attach(1100, 50));
    EXPECT_TRUE(a.attach(1000, 100));
    EXPECT_TRUE(a.contains(1000, 150));
    EXPECT_TRUE(a.contains(1149, 1));
    EXPECT_FALSE(a.contains(1000, 151));
    EXPECT_FALSE(a.contains(999, 2));
    EXPECT_TRUE(a.contains(5, 0)); // no bytes
}

} // namespace
