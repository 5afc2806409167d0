// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/second_table.hpp"

#include "launch/protocol/event_loop.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>

using namespace zipmpi;
using namespace zipmpi::launch;

namespace {

// Pipes whose read ends are in the second table. System calls there are raw: sanitizers know one table only.
class SecondTableTest : public testing::Test {
  protected:
    SecondTableTest() { EXPECT_TRUE(table.begin(loop.fd())); }
    int add_pipe(os::Fd& write_end, uint32_t index) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return -1;
        const os::Fd read_end(ends[0]);
        write_end.reset(ends[1]);
        return static_cast<int>(table.run(
            [&](int fd) {
                loop.watch(fd, EPOLLIN, source, index);
                return fd;
            },
            read_end.get()));
    }
    ssize_t read(int number) {
        return table.run([&](int) { return syscall(SYS_read, number, buffer, sizeof buffer); });
    }

    char buffer[16]{};
    std::vector<uint32_t> ready;
    EventLoop loop;
    EventLoop::Source source = loop.add_source([this](uint32_t index, uint32_t) { ready.push_back(index); });
    SecondTable table;
};

TEST_F(SecondTableTest, HoldsAsManyDescriptorsAsTheProcess) {
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    const rlimit low{100, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
    std::vector<os::Fd> write_ends(80);
    std::vector<int> numbers;
    for (uint32_t i = 0; i < write_ends.size(); ++i) numbers.push_back(add_pipe(write_ends[i], i));
    setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_TRUE(std::ranges::all_of(numbers, [](int n) { return n >= 0; }))
        << "80 in each of two tables of 100";
    EXPECT_EQ(write(write_ends[70].get(), "text", 4), 4);
    loop.wait(1000);
    EXPECT_EQ(ready, std::vector<uint32_t>{70});
    EXPECT_EQ(read(numbers[70]), 4);
    EXPECT_EQ(std::string(buffer, 4), "text");
    EXPECT_EQ(read(numbers[70]), -1);
    EXPECT_EQ(errno, EAGAIN);
}

TEST_F(SecondTableTest, FullTable) {
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    const rlimit low{40, before.rlim_max};
    std::vector<os::Fd> write_ends(60);
    std::vector<int> numbers;
    for (uint32_t i = 0; i < write_ends.size(); ++i) {
        setrlimit(RLIMIT_NOFILE, &before);
        int ends[2];
        ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
        const os::Fd read_end(ends[0]);
        write_ends[i].reset(ends[1]);
        setrlimit(RLIMIT_NOFILE, &low);
        numbers.push_back(static_cast<int>(table.run([](int fd) { return fd; }, read_end.get())));
    }
    setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_GT(std::ranges::count_if(numbers, [](int n) { return n >= 0; }), 30);
    EXPECT_EQ(numbers.back(), -1);
}

TEST_F(SecondTableTest, KeepsNothingOfTheProcessOpen) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    os::Fd read_end(ends[0]), write_end(ends[1]);
    SecondTable another;
    ASSERT_TRUE(another.begin(loop.fd()));
    write_end.reset();
    EXPECT_EQ(::read(read_end.get(), buffer, sizeof buffer), 0) << "end of file";
}

TEST_F(SecondTableTest, ClosesItsDescriptors) {
    os::Fd write_end;
    auto own = std::make_unique<SecondTable>();
    ASSERT_TRUE(own->begin(loop.fd()));
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    write_end.reset(ends[1]);
    os::Fd read_end(ends[0]);
    EXPECT_GE(own->run([](int fd) { return fd; }, read_end.get()), 0);
    read_end.reset();
    EXPECT_EQ(write(write_end.get(), "x", 1), 1);
    own.reset();
    signal(SIGPIPE, SIG_IGN);
    EXPECT_EQ(write(write_end.get(), "x", 1), -1);
    EXPECT_EQ(errno, EPIPE);
}

} // namespace
