// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/chunks.hpp"

#include <gtest/gtest.h>
#include <numeric>
#include <thread>
#include <vector>

namespace zipmpi::proto {
namespace {

constexpr uint32_t sequence = 7;

std::vector<uint32_t> take_all(wire::CoopCopySlot& slot, uint32_t chunks, ChunkEnd end) {
    std::vector<uint32_t> taken;
    for (uint32_t chunk = 0; take_chunk(slot, sequence, chunks, end, chunk);) taken.push_back(chunk);
    return taken;
}

TEST(CoopCopySlot, EachChunkIsClaimedOnce) {
    for (const uint32_t chunks : {1U, 2U, 3U, 1000U, max_chunks}) {
        wire::CoopCopySlot slot{};
        slot.taken = uint64_t{sequence} << 32;
        std::vector<uint32_t> back;
        std::thread sender([&] { back = take_all(slot, chunks, ChunkEnd::back); });
        std::vector<uint32_t> all = take_all(slot, chunks, ChunkEnd::front);
        sender.join();
        // the receiver's chunks ascend from the first, the sender's descend from the last
        all.insert(all.end(), back.rbegin(), back.rend());
        std::vector<uint32_t> expected(chunks);
        std::iota(expected.begin(), expected.end(), 0U);
        EXPECT_EQ(all, expected);
    }
}

TEST(CoopCopySlot, EndedCopyHasNoChunks) {
    wire::CoopCopySlot slot{};
    slot.taken = uint64_t{sequence + 1} << 32;
    uint32_t chunk = 0;
    EXPECT_FALSE(take_chunk(slot, sequence, 5, ChunkEnd::back, chunk));
    EXPECT_FALSE(take_chunk(slot, sequence, 5, ChunkEnd::front, chunk));
    EXPECT_EQ(slot.taken.load(), uint64_t{sequence + 1} << 32);
}

TEST(CoopCopySlot, ChunksCoverTheMessage) {
    constexpr uint64_t bytes = 1'000'001;
    constexpr uint64_t each = 65536;
    uint64_t sum = 0;
    for (uint32_t c = 0; chunk_offset(each, c) < bytes; ++c) {
        EXPECT_EQ(chunk_offset(each, c), sum);
        sum += chunk_length(bytes, each, c);
    }
    EXPECT_EQ(sum, bytes);
}

} // namespace
} // namespace zipmpi::proto
