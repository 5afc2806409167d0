// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Tables of a multi-host job: memory use and contents.
#include "boot/address_book.hpp"
#include "boot/node_segment.hpp"

#include <gtest/gtest.h>
#include <map>
#include <sys/stat.h>

namespace zipmpi::boot {
namespace {

NodeTable many_nodes(int ranks, int per_node) {
    NodeTable nodes;
    for (int r = 0; r < ranks; ++r) nodes.node_of.push_back(static_cast<uint32_t>(r / per_node));
    nodes.count = static_cast<uint32_t>((ranks + per_node - 1) / per_node);
    nodes.own = 1;
    return nodes;
}

uint64_t memory_of(const NodeSegment& segment) {
    struct stat st {};
    fstat(segment.fd(), &st);
    return static_cast<uint64_t>(st.st_blocks) * 512;
}

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

TEST(NodeSegment, MillionRanksNeedOneSmallTablePerNode) {
    constexpr int ranks = 1'000'000;
    const std::vector<int> local{64, 65, 66, 67};
    NodeSegment few;
    NodeSegment many;
    Diagnostic why;
    const NodeTable two = many_nodes(8, 4);
    const NodeTable thousands = many_nodes(ranks, 64);
    ASSERT_TRUE(NodeSegment::make("test", {4, 5, 6, 7}, 8, few, why, &two)) << format(why);
    ASSERT_TRUE(NodeSegment::make("test", local, ranks, many, why, &thousands)) << format(why);
    EXPECT_LE(memory_of(many), memory_of(few) + ranks * sizeof(uint32_t) + 4096);
    EXPECT_EQ(many.node_of(999'999), 15624U);
    EXPECT_EQ(many.node_of(64), 1U);
    EXPECT_EQ(many.nodes(), 15625U);
}

TEST(NodeSegment, AddressesAreFetchedOncePerNode) {
    constexpr int ranks = 1'000'000;
    NodeSegment segment;
    Diagnostic why;
    const NodeTable nodes = many_nodes(ranks, 64);
    ASSERT_TRUE(NodeSegment::make("test", {64, 65}, ranks, segment, why, &nodes)) << format(why);
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
