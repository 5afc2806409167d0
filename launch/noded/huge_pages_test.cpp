// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/huge_pages.hpp"

#include <gtest/gtest.h>

using namespace zipmpi::launch;

namespace {

constexpr uint64_t GiB = uint64_t{1} << 30;

TEST(HugePages, UsedWhereTheKernelNeedsARequest) {
    EXPECT_TRUE(should_use_huge_pages("auto", {"always [madvise] never", 4 * GiB}, 4));
    EXPECT_FALSE(should_use_huge_pages("auto", {"[always] madvise never", 4 * GiB}, 4));
    EXPECT_FALSE(should_use_huge_pages("auto", {"always madvise [never]", 4 * GiB}, 4));
    EXPECT_FALSE(should_use_huge_pages("auto", {"", 4 * GiB}, 4));
}

TEST(HugePages, NotUsedWithLittleMemoryPerRank) {
    EXPECT_TRUE(should_use_huge_pages("auto", {"always [madvise] never", 4 * GiB}, 16));
    EXPECT_FALSE(should_use_huge_pages("auto", {"always [madvise] never", 4 * GiB}, 17));
    EXPECT_TRUE(should_use_huge_pages("auto", {"always [madvise] never", 4 * GiB}, 0)); // a gateway's host
}

TEST(HugePages, SettingDecides) {
    EXPECT_TRUE(should_use_huge_pages("yes", {"always madvise [never]", 0}, 1000));
    EXPECT_FALSE(should_use_huge_pages("no", {"always [madvise] never", 4 * GiB}, 1));
}

TEST(HugePages, ChoiceOfTheUserIsKept) {
    const auto after = [](std::vector<std::string> environment) {
        add_huge_pages(environment);
        return environment;
    };
    using Environment = std::vector<std::string>;
    EXPECT_EQ(after({"A=1"}), (Environment{"A=1", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"}));
    EXPECT_EQ(after({"GLIBC_TUNABLES="}), (Environment{"GLIBC_TUNABLES=glibc.malloc.hugetlb=1"}));
    EXPECT_EQ(after({"GLIBC_TUNABLES=glibc.malloc.check=3"}),
              (Environment{"GLIBC_TUNABLES=glibc.malloc.check=3:glibc.malloc.hugetlb=1"}));
    EXPECT_EQ(after({"GLIBC_TUNABLES=glibc.malloc.hugetlb=0"}),
              (Environment{"GLIBC_TUNABLES=glibc.malloc.hugetlb=0"}));
}

TEST(HugePages, ReadsThisHost) { EXPECT_GT(read_huge_page_support().available_bytes, 0U); }

} // namespace
