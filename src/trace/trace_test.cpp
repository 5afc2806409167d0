// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "trace/handle_table.hpp"
#include "trace/profile.hpp"
#include "trace/recording.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <random>

namespace zipmpi::trace {
namespace {

TEST(HandleTable, BehavesLikeAMap) {
    HandleTable<int, 64> table;
    std::map<uintptr_t, int> model;
    std::mt19937 random(1);
    for (int i = 0; i < 20000; ++i) {
        const uintptr_t key = (random() % 60) * 64; // many collide
        if (random() % 2 == 0) {
            int* const value = table.insert(key);
            ASSERT_EQ(value == nullptr, model.size() == 48 && !model.contains(key));
            if (value != nullptr) *value = model[key] = i;
        } else {
            table.erase(key);
            model.erase(key);
        }
        ASSERT_EQ(table.size(), model.size());
        for (uintptr_t k = 0; k < 60; ++k) {
            const int* const found = table.find(k * 64);
            ASSERT_EQ(found != nullptr, model.contains(k * 64));
            if (found != nullptr) {
                ASSERT_EQ(*found, model[k * 64]);
            }
        }
    }
}

TEST(TraceFile, CountsRecordsBeyondTheLimit) {
    std::string folder = testing::TempDir() + "zipmpi_trace_XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    const auto file = std::make_unique<TraceFile>();
    constexpr uint64_t limit = buffered_records + 10;
    ASSERT_TRUE(file->open(folder.c_str(), {3, 4, "job"}, limit * sizeof(wire::TraceRecord)));
    for (uint64_t i = 0; i < 3 * buffered_records; ++i) file->add({i, i + 1, 0, 0, 0, 0, 1, 0});
    file->close();
    FILE* const f = std::fopen((folder + "/job.3.trace").c_str(), "rb");
    ASSERT_NE(f, nullptr);
    wire::TraceHeader header{};
    ASSERT_EQ(std::fread(&header, sizeof header, 1, f), 1U);
    EXPECT_EQ(header.complete, 1U);
    EXPECT_EQ(header.rank, 3U);
    EXPECT_EQ(header.dropped, 3 * buffered_records - limit);
    wire::TraceRecord record{};
    uint64_t count = 0;
    for (; std::fread(&record, sizeof record, 1, f) == 1; ++count) ASSERT_EQ(record.start, count);
    EXPECT_EQ(count, limit);
    std::fclose(f);
    std::filesystem::remove_all(folder);
}

TEST(Profile, NamesTheRanksWithTheLowestAndHighestShare) {
    const auto sums = std::make_unique<ProfileSums>();
    const auto maxima = std::make_unique<ProfileMaxima>();
    sums->run_seconds = 20;
    sums->mpi_seconds = 9;
    maxima->run_seconds = 10;
    maxima->highest = std::max(share_and_rank(0.75, 5), share_and_rank(0.15, 7));
    maxima->lowest = std::max(share_and_rank(0.25, 5), share_and_rank(0.85, 7));
    const uint32_t send = names::function_id("MPI_Send");
    sums->functions[send] = {12, 9, 2048};
    maxima->seconds[send] = 7.5;
    const std::string text = profile_text(*sums, *maxima, 2);
    EXPECT_NE(text.find("45.0 % of the time in MPI; lowest 15.0 % (rank 7), highest 75.0 % (rank 5)"),
              text.npos)
        << text;
    EXPECT_NE(text.find("9.000 s  45.0 %     2.0 KiB       1.7"), text.npos) << text;
}

TEST(Recording, NamesOfCommunicatorsDependOnTheirOrder) {
    const auto a = std::make_unique<Recording>();
    const auto b = std::make_unique<Recording>();
    const uint32_t first = a->name_comm(7);
    EXPECT_NE(first, a->name_comm(7));
    b->name_comm(8); // of another group
    EXPECT_EQ(b->name_comm(7), first);
}

} // namespace
} // namespace zipmpi::trace
