// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/interjob/contact_check.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace zipmpi::interjob {
namespace {

ContactInfo process(uint64_t job, int32_t rank) {
    ContactInfo contact;
    contact.name = {job, rank, 0};
    return contact;
}

TEST(ContactCheck, RemoteGroup) {
    const OwnJob job{7, 4};
    const std::vector<ContactInfo> own = {process(7, 0), process(7, 1), process(8, 5)};
    const auto valid = [&](const std::vector<ContactInfo>& remote) {
        return is_valid_remote_group(job, own, remote);
    };
    EXPECT_TRUE(valid({process(9, 0), process(9, 1), process(10, 0)}));
    EXPECT_TRUE(valid({process(7, 2), process(7, 3)})) << "another group of this job";
    EXPECT_FALSE(valid({}));
    EXPECT_FALSE(valid({process(0, 0)}));
    EXPECT_FALSE(valid({process(7, 4)})) << "this job has no such rank";
    EXPECT_FALSE(valid({process(7, -1)}));
    EXPECT_FALSE(valid({process(9, -1)}));
    EXPECT_FALSE(valid({process(9, first_external)}));
    EXPECT_FALSE(valid({process(7, 1)})) << "in the local group";
    EXPECT_FALSE(valid({process(8, 5)})) << "in the local group";
    EXPECT_FALSE(valid({process(9, 0), process(9, 0)}));
    ContactInfo many = process(9, 0);
    many.address_count = ContactInfo::max_addresses + 1;
    EXPECT_FALSE(valid({many}));
}

TEST(ContactCheck, Context) {
    EXPECT_TRUE(is_interjob_context(wire::interjob_context_bit | 2));
    EXPECT_FALSE(is_interjob_context(2)) << "of a communicator of one job";
    EXPECT_FALSE(is_interjob_context(wire::interjob_context_bit | 3));
    EXPECT_FALSE(is_interjob_context(wire::interjob_context_bit | 2 | 1U << 31));
}

} // namespace
} // namespace zipmpi::interjob
