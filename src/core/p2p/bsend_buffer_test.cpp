// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/p2p/bsend_buffer.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace zipmpi::core {
namespace {

TEST(BsendBuffer, StandardOverheadSuffices) {
    for (const size_t shift : {0, 1, 7, 15}) {
        const std::vector<size_t> messages = {0, 1, 15, 16, 17, 4096, 100003};
        size_t size = 0;
        for (const size_t n : messages) size += n + BsendBuffer::bsend_overhead;
        std::vector<char> memory(size + shift + 1, 'x');
        BsendBuffer buffer(memory.data() + shift, static_cast<int64_t>(size));
        for (const size_t n : messages) {
            BsendBuffer::BsendBlock* block = buffer.allocate(n);
            ASSERT_NE(block, nullptr) << n;
            std::memset(block->bytes(), 'y', n);
        }
        EXPECT_EQ(memory.back(), 'x');
    }
}

TEST(BsendBuffer, BlocksDoNotOverlapAndSpaceIsReused) {
    std::vector<char> memory(20000);
    BsendBuffer buffer(memory.data(), static_cast<int64_t>(memory.size()));
    std::mt19937 random(5);
    struct LiveBlock {
        BsendBuffer::BsendBlock* block;
        size_t bytes;
        int fill_byte;
    };
    std::vector<LiveBlock> live_blocks;
    for (int i = 0; i < 20000; ++i) {
        const size_t bytes = random() % 3000;
        BsendBuffer::BsendBlock* block = random() % 2 == 0 ? buffer.allocate(bytes) : nullptr;
        if (block != nullptr) {
            EXPECT_LE(reinterpret_cast<char*>(block->bytes() + bytes), memory.data() + memory.size());
            std::memset(block->bytes(), i % 128, bytes);
            live_blocks.push_back({block, bytes, i % 128});
        } else if (!live_blocks.empty()) {
            const size_t which = random() % live_blocks.size();
            const LiveBlock h = live_blocks[which];
            for (size_t k = 0; k < h.bytes; ++k)
                ASSERT_EQ(static_cast<int>(h.block->bytes()[k]), h.fill_byte);
            buffer.release(*h.block);
            live_blocks.erase(live_blocks.begin() + static_cast<std::ptrdiff_t>(which));
        }
    }
    for (const LiveBlock& h : live_blocks) buffer.release(*h.block);
    EXPECT_TRUE(buffer.empty());
    EXPECT_NE(buffer.allocate(19000), nullptr) << "free ranges are not merged";
}

TEST(BsendBuffer, RejectsOversizedMessages) {
    std::vector<char> memory(1000);
    BsendBuffer buffer(memory.data(), 1000);
    EXPECT_EQ(buffer.allocate(1000), nullptr);
    EXPECT_EQ(buffer.allocate(UINT64_MAX), nullptr);
    BsendBuffer tiny(memory.data() + 1, 3);
    EXPECT_EQ(tiny.allocate(0), nullptr);
}

TEST(BsendBuffer, SmallOverheadIsCounted) {
    constexpr size_t overhead = 96;
    std::vector<char> memory(2 * (100 + overhead));
    BsendBuffer buffer(memory.data(), static_cast<int64_t>(memory.size()), overhead);
    BsendBuffer::BsendBlock* const first = buffer.allocate(100);
    BsendBuffer::BsendBlock* const second = buffer.allocate(100);
    ASSERT_NE(first, nullptr);
    ASSERT_NE(second, nullptr);
    EXPECT_EQ(buffer.allocate(0), nullptr);
    buffer.release(*first);
    EXPECT_EQ(buffer.allocate(101), nullptr);
    BsendBuffer::BsendBlock* const third = buffer.allocate(100);
    ASSERT_NE(third, nullptr);
    buffer.release(*second);
    buffer.release(*third);
}

TEST(BsendBuffer, FlushWaitsForOlderBlocksOnly) {
    BsendBuffer buffer(nullptr, 0);
    const auto count = [](void* subject) { ++*static_cast<int*>(subject); };
    int reached = 0;
    buffer.on_flushed(count, &reached);
    EXPECT_EQ(reached, 1) << "nothing is in flight";
    BsendBuffer::BsendBlock* first = buffer.allocate(10);
    BsendBuffer::BsendBlock* second = buffer.allocate(10);
    buffer.on_flushed(count, &reached);
    BsendBuffer::BsendBlock* younger = buffer.allocate(10);
    EXPECT_EQ(buffer.oldest(), first);
    buffer.release(*second);
    EXPECT_EQ(reached, 1);
    buffer.release(*first);
    EXPECT_EQ(reached, 2);
    EXPECT_FALSE(buffer.empty());
    buffer.release(*younger);
    EXPECT_EQ(reached, 2);
}

} // namespace
} // namespace zipmpi::core
