// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/arena.hpp"

#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace zipmpi::transport::shm {
namespace {

constexpr uint64_t KiB = 1024;

class ArenaTest : public testing::Test {
  protected:
    void SetUp() override {
        Diagnostic why;
        ASSERT_TRUE(segment::NodeSegment::make("test", {0, 1}, 2, segment, why)) << format(why);
        ASSERT_TRUE(segment.has_arenas());
    }
    segment::NodeSegment segment;
};

TEST_F(ArenaTest, PeerReadsOwnersData) {
    Arena owner(segment, 0);
    Arena peer(segment, 1);
    auto* memory = static_cast<std::byte*>(owner.allocate(100 * KiB));
    ASSERT_NE(memory, nullptr);
    std::memset(memory, 7, 100 * KiB);
    const uint64_t arena_offset = owner.offset_of(memory + 500, 90 * KiB);
    ASSERT_NE(arena_offset, 0U);
    const std::byte* seen = peer.view(0, arena_offset, 90 * KiB);
    ASSERT_NE(seen, nullptr);
    EXPECT_EQ(std::memcmp(seen, memory + 500, 90 * KiB), 0);
    EXPECT_TRUE(owner.free(memory));
    EXPECT_FALSE(owner.free(memory));
}

TEST_F(ArenaTest, OffsetRequiresRangeInOneBlock) {
    Arena arena(segment, 0);
    int elsewhere = 0;
    EXPECT_EQ(arena.offset_of(&elsewhere, sizeof elsewhere), 0U);
    auto* memory = static_cast<std::byte*>(arena.allocate(64 * KiB));
    ASSERT_NE(memory, nullptr);
    EXPECT_NE(arena.offset_of(memory, 64 * KiB), 0U);
    EXPECT_EQ(arena.offset_of(memory + 1, 64 * KiB), 0U);
    EXPECT_EQ(arena.offset_of(&elsewhere, sizeof elsewhere), 0U);
    EXPECT_EQ(arena.allocate(100), nullptr) << "small blocks are rejected";
    EXPECT_EQ(arena.allocate(wire::arena_bytes + 1), nullptr);
}

TEST_F(ArenaTest, FreedRangesAreReused) {
    Arena arena(segment, 0);
    void* first = arena.allocate(64 * KiB);
    void* second = arena.allocate(128 * KiB);
    const uint64_t arena_offset = arena.offset_of(first, 1);
    EXPECT_LT(arena_offset, arena.offset_of(second, 1));
    ASSERT_TRUE(arena.free(first));
    void* larger = arena.allocate(256 * KiB);
    EXPECT_GT(arena.offset_of(larger, 1), arena.offset_of(second, 1)) << "does not fit into the free range";
    void* again = arena.allocate(64 * KiB);
    EXPECT_EQ(arena.offset_of(again, 1), arena_offset);
    for (void* p : {second, larger, again}) EXPECT_TRUE(arena.free(p));
}

// Programs allocate and free large buffers of which they use little, many times.
TEST_F(ArenaTest, LargeBlocksHoldMemoryOnceItIsUsed) {
    const auto used_bytes = [this] {
        struct stat file {};
        EXPECT_EQ(fstat(segment.fd(), &file), 0);
        return static_cast<uint64_t>(file.st_blocks) * 512;
    };
    char mode = 0;
    std::ifstream("/proc/sys/vm/overcommit_memory").get(mode);
    if (mode == '2') GTEST_SKIP() << "memory is reserved at once, because the kernel limits it";
    Arena arena(segment, 0);
    const uint64_t before = used_bytes();
    auto* const memory = static_cast<std::byte*>(arena.allocate(64 * 1024 * KiB));
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(used_bytes(), before);
    std::memset(memory, 7, 512 * KiB);
    EXPECT_GE(used_bytes(), before + 512 * KiB);
    EXPECT_LE(used_bytes(), before + 4096 * KiB); // a huge page or two
    EXPECT_TRUE(arena.free(memory));
    EXPECT_EQ(used_bytes(), before);
    EXPECT_EQ(arena.allocate(wire::arena_bytes / 2), nullptr) << "more than the machine has";
}

TEST_F(ArenaTest, InvalidPeerOffsetsAreRejected) {
    Arena arena(segment, 1);
    EXPECT_EQ(arena.view(0, 0, 1), nullptr);
    EXPECT_EQ(arena.view(0, wire::arena_bytes, 2), nullptr);
    EXPECT_EQ(arena.view(0, UINT64_MAX, UINT64_MAX), nullptr);
    EXPECT_EQ(arena.view(0, 1, UINT64_MAX), nullptr);
}

} // namespace
} // namespace zipmpi::transport::shm
