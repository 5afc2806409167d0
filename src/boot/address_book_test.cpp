// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Addresses of ranks on other hosts: cached in the node segment.
#include "boot/address_book.hpp"

#include <gtest/gtest.h>
#include <map>

namespace zipmpi::boot {
namespace {

class Values final : public Launcher {
  public:
    bool put(std::string_view key, std::string_view value) override {
        values_[std::string(key)] = value;
        return true;
    }
    bool get(int, std::string_view key, std::string& value) override {
        ++gets;
        const auto found = values_.find(std::string(key));
        if (found == values_.end()) return false;
        value = found->second;
        return true;
    }
    bool fence() override { return true; }
    void abort(int, std::string_view) override {}
    void finalize() override {}
    int gets = 0;

  private:
    std::map<std::string, std::string> values_;
};

TEST(PublishedAddresses, AddressesAreFetchedOncePerNode) {
    constexpr int ranks = 1'000'000;
    segment::NodeSegment segment;
    Diagnostic why;
    segment::NodeTable nodes;
    for (int r = 0; r < ranks; ++r) nodes.node_of.push_back(static_cast<uint32_t>(r / 64));
    nodes.count = ranks / 64;
    nodes.own = 1;
    ASSERT_TRUE(segment::NodeSegment::make("test", {64, 65}, ranks, segment, why, &nodes)) << format(why);
    for (const size_t bytes : {size_t{1}, size_t{300}, size_t{511}, size_t{1000}, size_t{2000}}) {
        Values launcher;
        const int rank = 1000 + static_cast<int>(bytes);
        const std::string address(bytes, 'a');
        ASSERT_TRUE(publish_address(launcher, address));
        EXPECT_EQ(find_address(launcher, segment, rank), address);
        const int gets_before = launcher.gets;
        EXPECT_EQ(find_address(launcher, segment, rank), address);
        if (bytes <= 1016) {
            EXPECT_EQ(launcher.gets, gets_before); // longer ones are not cached
        }
    }
    Values empty;
    EXPECT_EQ(find_address(empty, segment, 5), "");
}

} // namespace
} // namespace zipmpi::boot
