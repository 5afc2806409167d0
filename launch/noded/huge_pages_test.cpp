// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/huge_pages.hpp"

#include <filesystem>
#include <fstream>
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

TEST(HugePages, NotUsedWhereTheirFirstUseIsSlow) {
    EXPECT_FALSE(should_use_huge_pages("auto", {"always [madvise] never", 4 * GiB, true}, 4));
}

TEST(HugePages, SettingDecides) {
    EXPECT_TRUE(should_use_huge_pages("yes", {"always madvise [never]", 0, true}, 1000));
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

// Devices like those in /sys/bus/virtio/devices.
class MemoryBalloon : public testing::Test {
  protected:
    MemoryBalloon() {
        char name[] = "/tmp/zipmpi-virtio-XXXXXX";
        top_ = mkdtemp(name);
    }
    ~MemoryBalloon() override { std::filesystem::remove_all(top_); }

    void add_device(const std::string& name, const std::string& device, const std::string& features) const {
        std::filesystem::create_directories(top_ / name);
        std::ofstream(top_ / name / "device") << device << '\n';
        std::ofstream(top_ / name / "features") << features << '\n';
    }

    std::filesystem::path top_;
};

TEST_F(MemoryBalloon, NoneOnOtherHosts) {
    EXPECT_FALSE(returns_free_pages(top_ / "missing"));
    EXPECT_FALSE(returns_free_pages(top_));
    add_device("virtio0", "0x0001", "11111111");
    EXPECT_FALSE(returns_free_pages(top_)) << "a network device";
}

TEST_F(MemoryBalloon, BitFiveReportsFreePages) {
    add_device("virtio0", "0x0005", "11111011");
    add_device("virtio1", "0x0005", "");
    EXPECT_FALSE(returns_free_pages(top_));
    add_device("virtio2", "0x0005", "00000100");
    EXPECT_TRUE(returns_free_pages(top_));
}

TEST(HugePages, ReadsThisHost) { EXPECT_GT(read_huge_page_support().available_bytes, 0U); }

} // namespace
