// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/output_files.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <sys/stat.h>

using namespace zipmpi;
using namespace zipmpi::launch;

namespace {

class OutputFilesTest : public testing::Test {
  protected:
    OutputFilesTest() {
        char name[] = "/tmp/zipmpi_files_XXXXXX";
        directory = mkdtemp(name);
    }
    ~OutputFilesTest() override { std::filesystem::remove_all(directory); }
    static std::string content(const std::string& path) {
        std::ifstream in(path);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    bool write(int file, std::string_view text) { return files.write(file, text, why); }

    std::string directory;
    OutputFiles files{"n7"};
    Diagnostic why;
};

TEST_F(OutputFilesTest, CreatesDirectoriesAndTruncatesFiles) {
    const std::string path = directory + "/a/b/rank.0.out";
    const int file = files.open(path, why);
    ASSERT_TRUE(files.is_open(file)) << why.why;
    EXPECT_TRUE(write(file, "one\n"));
    EXPECT_TRUE(write(file, "two\n"));
    EXPECT_EQ(content(path), "one\ntwo\n");
    OutputFiles again;
    EXPECT_TRUE(again.is_open(again.open(path, why)));
    EXPECT_EQ(content(path), "");
}

TEST_F(OutputFilesTest, RanksShareFileOfSameName) {
    const int first = files.open(directory + "/all", why);
    EXPECT_TRUE(write(first, "a\n"));
    const int second = files.open(directory + "/all", why);
    EXPECT_EQ(first, second);
    EXPECT_TRUE(write(second, "b\n"));
    EXPECT_EQ(content(directory + "/all"), "a\nb\n");
}

// Two hosts with a common file system: the second daemon must not remove what the first has written.
TEST_F(OutputFilesTest, OneOfSeveralHostsEmptiesFile) {
    const std::string path = directory + "/all";
    std::ofstream(path) << "of an earlier job\n";
    {
        OutputFiles first_host{"n7"};
        OutputFiles other{"n8"};
        first_host.share_with_hosts("job1");
        other.share_with_hosts("job1");
        const int first = first_host.open(path, why);
        std::string_view line = "n7\n";
        EXPECT_TRUE(first_host.write(first, line, why));
        const int second = other.open(path, why);
        std::string_view text = "n8\n";
        EXPECT_TRUE(other.write(second, text, why));
        EXPECT_EQ(content(path), "n7\nn8\n");
        OutputFiles later{"n7"};
        later.share_with_hosts("job2");
        EXPECT_TRUE(later.is_open(later.open(path, why)));
        EXPECT_EQ(content(path), "") << "the next job empties it";
    }
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory), {}), 1) << "no marker is left";
}

TEST_F(OutputFilesTest, ReportsFailedCreation) {
    std::ofstream(directory + "/file") << "x";
    EXPECT_EQ(files.open(directory + "/file/rank.0", why), OutputFiles::none);
    EXPECT_EQ(why.where, "host n7");
    EXPECT_NE(why.why.find(directory + "/file/rank.0: Not a directory"), std::string::npos) << why.why;
    EXPECT_FALSE(why.fix.empty());
}

TEST_F(OutputFilesTest, PipeWithoutReaderDoesNotBlock) {
    ASSERT_EQ(mkfifo((directory + "/pipe").c_str(), 0600), 0);
    EXPECT_EQ(files.open(directory + "/pipe", why), OutputFiles::none);
}

TEST_F(OutputFilesTest, FullDiskReturnsUnwrittenText) {
    const int file = files.open("/dev/full", why);
    ASSERT_TRUE(files.is_open(file));
    std::string_view text = "lost?\n";
    EXPECT_FALSE(files.write(file, text, why));
    EXPECT_EQ(text, "lost?\n");
    EXPECT_FALSE(files.is_open(file));
    EXPECT_NE(why.why.find("No space left on device"), std::string::npos);
    EXPECT_NE(why.fix.find("free space"), std::string::npos);
}

} // namespace
