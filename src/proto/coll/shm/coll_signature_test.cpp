// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/coll/shm/coll_signature.hpp"

#include <gtest/gtest.h>

namespace zipmpi::proto::coll {
namespace {

TEST(CollSignature, DistinguishesCalls) {
    const CollSignature a(1, CollKind::broadcast, 100, 2);
    EXPECT_EQ(a.encoded,
              CollSignature(5, CollKind::broadcast, 100, 2).encoded); // the sequence is not compared
    EXPECT_NE(a.encoded, CollSignature(1, CollKind::broadcast, 101, 2).encoded);
    EXPECT_NE(a.encoded, CollSignature(1, CollKind::broadcast, 100, 1).encoded);
    EXPECT_NE(a.encoded, CollSignature(1, CollKind::reduce, 100, 2).encoded);
}

TEST(CollSignature, ReportsAMismatchOnce) {
    SignatureCheck check;
    check.begin({1, CollKind::broadcast, 100});
    EXPECT_EQ(check.take_mismatch(), -1);
    check.record_mismatch(3, CollSignature(1, CollKind::broadcast, 200).encoded);
    EXPECT_EQ(check.take_mismatch(), 3);
    EXPECT_EQ(check.mismatch_error(3), Err::truncate);
    EXPECT_EQ(check.take_mismatch(), -1);
    check.record_mismatch(2, CollSignature(1, CollKind::broadcast, 50).encoded);
    EXPECT_EQ(check.mismatch_error(check.take_mismatch()), Err::not_same);
}

} // namespace
} // namespace zipmpi::proto::coll
