// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/line_folder.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <random>
#include <sstream>

using zipmpi::launch::LineFolder;

namespace {

constexpr uint64_t window = LineFolder::window_ns;

std::string added(LineFolder& f, uint32_t rank, std::string_view text, uint64_t now = 0) {
    std::string out;
    f.add(rank, text, now, out);
    return out;
}

std::string rest(LineFolder& f) {
    std::string out;
    f.flush(out);
    return out;
}

TEST(LineFolder, LineOfAllRanksIsWrittenImmediately) {
    LineFolder f(4);
    for (const uint32_t rank : {2U, 0U, 3U}) EXPECT_EQ(added(f, rank, "hello\n"), "");
    EXPECT_EQ(added(f, 1, "hello\n"), "[0-3] hello\n");
    EXPECT_EQ(f.waiting(), 0U);
    EXPECT_EQ(f.next_time(), 0U);
}

TEST(LineFolder, LineOfSomeRanksIsWrittenAfterWindow) {
    LineFolder f(8);
    for (const uint32_t rank : {5U, 0U, 1U, 2U}) added(f, rank, "odd\n", 7);
    EXPECT_EQ(f.next_time(), 7 + window);
    std::string out;
    f.on_time(6 + window, out);
    EXPECT_EQ(out, "");
    f.on_time(7 + window, out);
    EXPECT_EQ(out, "[0-2,5] odd\n");
}

TEST(LineFolder, KeepsOrderOfEachRank) {
    LineFolder f(2);
    added(f, 0, "a\nb\na\n");
    EXPECT_EQ(added(f, 1, "b\na\n"), ""); // held back by the first line of rank 0
    EXPECT_EQ(rest(f), "[0] a\n[0-1] b\n[0-1] a\n");
}

TEST(LineFolder, RepeatedLinesOfOneRankAreNotFolded) {
    LineFolder f(2);
    added(f, 0, "x\nx\n");
    EXPECT_EQ(added(f, 1, "x\n"), "[0-1] x\n");
    EXPECT_EQ(rest(f), "[0] x\n");
}

TEST(LineFolder, UnfinishedLineIsContinued) {
    LineFolder f(2);
    added(f, 0, "name? ");
    EXPECT_EQ(rest(f), "[0] name? ");
    added(f, 0, "you\n");
    EXPECT_EQ(rest(f), "you\n");
    added(f, 0, "name? ");
    EXPECT_EQ(rest(f), "[0] name? ");
    added(f, 1, "no\n");
    EXPECT_EQ(rest(f), "\n[1] no\n");
}

TEST(LineFolder, MemoryIsBounded) {
    LineFolder f(2);
    std::string out;
    for (int i = 0; i < 100'000; ++i) {
        f.add(0, "line number " + std::to_string(i) + "\n", 0, out);
        ASSERT_LE(f.waiting(), LineFolder::max_waiting_bytes);
    }
    f.flush(out);
    EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 100'000);
    EXPECT_EQ(f.waiting(), 0U);
}

TEST(LineFolder, ThousandRanks) {
    constexpr uint32_t ranks = 1000;
    LineFolder f(ranks);
    std::string out, text;
    for (int i = 0; i < 50; ++i) text += "step " + std::to_string(i % 5) + "\n";
    for (uint32_t rank = 0; rank < ranks; ++rank) f.add(rank, text, 0, out);
    EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 50);
    EXPECT_EQ(out.substr(0, 15), "[0-999] step 0\n");
}

// Every line of each rank must be written once, in order, with a label that contains the rank.
void check_all_lines_present(const std::string& out, const std::vector<std::string>& written) {
    std::vector<std::string> seen(written.size());
    std::istringstream lines(out);
    for (std::string line; std::getline(lines, line);) {
        const size_t end = line.find("] ");
        ASSERT_NE(end, std::string::npos) << line;
        std::istringstream runs(line.substr(1, end - 1));
        for (std::string run; std::getline(runs, run, ',');) {
            const size_t dash = run.find('-');
            const int low = std::stoi(run),
                      high = dash == std::string::npos ? low : std::stoi(run.substr(dash + 1));
            for (int rank = low; rank <= high; ++rank)
                seen[static_cast<size_t>(rank)] += line.substr(end + 2) + "\n";
        }
    }
    EXPECT_EQ(seen, written);
}

// Reference model: a list that is searched linearly.
struct Model {
    struct Line {
        std::string text;
        std::vector<bool> ranks;
        uint64_t since;
    };
    uint32_t ranks;
    std::vector<Line> lines;

    void add(uint32_t rank, const std::string& text, uint64_t now) {
        size_t behind = 0;
        for (size_t i = 0; i < lines.size(); ++i)
            if (lines[i].ranks[rank]) behind = i + 1;
        while (behind < lines.size() && lines[behind].text != text) ++behind;
        if (behind == lines.size()) lines.push_back({text, std::vector<bool>(ranks), now});
        lines[behind].ranks[rank] = true;
    }
    void show_first(std::string& out) {
        std::string label;
        for (uint32_t r = 0; r < ranks; ++r) {
            if (!lines[0].ranks[r]) continue;
            const uint32_t low = r;
            while (r + 1 < ranks && lines[0].ranks[r + 1]) ++r;
            label +=
                (label.empty() ? "" : ",") + std::to_string(low) + (r > low ? "-" + std::to_string(r) : "");
        }
        out += "[" + label + "] " + lines[0].text;
        lines.erase(lines.begin());
    }
    void show(uint64_t now, std::string& out) {
        const std::vector<bool> all(ranks, true);
        while (!lines.empty() && (lines[0].ranks == all || lines[0].since + window <= now)) show_first(out);
    }
};

TEST(LineFolder, RandomLinesMatchModel) {
    const char* given = std::getenv("FOLD_TEST_SEED");
    const unsigned seed = given != nullptr ? static_cast<unsigned>(std::atol(given)) : std::random_device()();
    std::printf("FOLD_TEST_SEED=%u\n", seed);
    std::mt19937 random(seed);
    for (int round = 0; round < 200; ++round) {
        const uint32_t ranks = 1 + random() % 12, texts = 1 + random() % 6;
        LineFolder f(ranks);
        Model model{ranks, {}};
        std::vector<std::string> written(ranks);
        std::string out, expected;
        uint64_t now = 0;
        for (int i = 0; i < 200; ++i) {
            const uint32_t rank = random() % ranks;
            std::string text;
            for (uint32_t n = random() % 4; n > 0; --n) {
                const std::string line = std::string(random() % texts, 'x') + "\n";
                model.add(rank, line, now);
                model.show(now, expected);
                text += line;
            }
            written[rank] += text;
            f.add(rank, text, now, out);
            now += random() % (window / 4);
            f.on_time(now, out);
            model.show(now, expected);
            ASSERT_EQ(out, expected);
            ASSERT_TRUE(f.next_time() == 0 || f.next_time() > now);
        }
        f.flush(out);
        check_all_lines_present(out, written);
    }
}

} // namespace
