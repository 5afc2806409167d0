// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/chunks.hpp"

#include <gtest/gtest.h>
#include <numeric>
#include <thread>
#include <vector>

namespace zipmpi::proto {
namespace {

constexpr uint32_t number = 7;

std::vector<uint32_t> take_all(wire::JointCopy& joint, uint32_t chunks, bool from_front) {
    std::vector<uint32_t> mine;
    for (uint32_t chunk = 0; take_chunk(joint, number, chunks, from_front, chunk);) mine.push_back(chunk);
    return mine;
}

TEST(JointCopy, EveryChunkIsTakenOnceByOneOfTwo) {
    for (const uint32_t chunks : {1U, 2U, 3U, 1000U, most_chunks}) {
        wire::JointCopy joint{};
        joint.taken = uint64_t{number} << 32;
        std::vector<uint32_t> back;
        std::thread sender([&] { back = take_all(joint, chunks, false); });
        std::vector<uint32_t> all = take_all(joint, chunks, true);
        sender.join();
        // the front part ascends from the first chunk, the back part descends from the last
        all.insert(all.end(), back.rbegin(), back.rend());
        std::vector<uint32_t> wanted(chunks);
        std::iota(wanted.begin(), wanted.end(), 0U);
        EXPECT_EQ(all, wanted);
    }
}

TEST(JointCopy, OnesThatHaveEndedGiveNothing) {
    wire::JointCopy joint{};
    joint.taken = uint64_t{number + 1} << 32;
    uint32_t chunk = 0;
    EXPECT_FALSE(take_chunk(joint, number, 5, false, chunk));
    EXPECT_FALSE(take_chunk(joint, number, 5, true, chunk));
    EXPECT_EQ(joint.taken.load(), uint64_t{number + 1} << 32);
}

TEST(JointCopy, ChunksCoverTheMessage) {
    constexpr uint64_t bytes = 1'000'001;
    constexpr uint64_t each = 65536;
    uint64_t sum = 0;
    for (uint32_t c = 0; chunk_at(each, c) < bytes; ++c) {
        EXPECT_EQ(chunk_at(each, c), sum);
        sum += chunk_length(bytes, each, c);
    }
    EXPECT_EQ(sum, bytes);
}

} // namespace
} // namespace zipmpi::proto
