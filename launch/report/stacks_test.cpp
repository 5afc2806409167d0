// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/protocol/messages.hpp"
#include "launch/report/stacks.hpp"

#include <algorithm>
#include <gtest/gtest.h>

using namespace zipmpi::launch;

namespace {

// As gdb 13 prints them: two ranks in one call with different inner frames, one computes with a second thread
// in MPI, one could not be read, and one is missing.
constexpr const char* by_gdb = R"(
zipmpi: process 100
[Thread debugging using libthread_db enabled]
0x00007f0d79b5c545 in __futex_wait (word=...) at futex.c:48

Thread 2 (Thread 0x7f0d79a896c0 (LWP 101) "progress"):
#0  0x00007f0d79b5c545 in epoll_wait (epfd=...) at ../sysdeps/epoll_wait.c:30
#1  0x00007f0d79b968ec in clone3 () at ../sysdeps/clone3.S:81

Thread 1 (Thread 0x7f0d79a8a740 (LWP 100) "a.out"):
#0  0x00007f0d79b5c545 in __futex_wait (word=...) at futex.c:48
#1  0x00007f0d79b60e53 in zipmpi::proto::Wait<(zipmpi::Kind)1>::sleep (this=...) at src/proto/wait.cpp:25
#2  0x00007f0d79b60d8a in PMPI_Barrier () from /usr/lib/libmpi_abi.so.1
#3  0x00007f0d79b60d8b in (anonymous namespace)::step (n=...) at dir/a.cpp:31
#4  main (argc=..., argv=...) at dir/a.cpp:40
[Inferior 1 (process 100) detached]

zipmpi: process 102

Thread 1 (Thread 0x7f0d79a8a740 (LWP 102) "a.out"):
#0  zipmpi::proto::poll () at poll.cpp:1
#1  0x00007f0d79b60d8a in checked_Barrier (comm=...) at entries.cpp:9
#2  0x00007f0d79b60d8b in (anonymous namespace)::step (n=...) at dir/a.cpp:31
#3  main (argc=..., argv=...) at dir/a.cpp:40

zipmpi: process 103

Thread 2 (Thread 0x7f0d79a896c0 (LWP 105) "a.out"):
#0  0x00007f0d79b5c545 in mpi_recv_ () from /usr/lib/libmpi_mpifh.so
#1  0x00007f0d79b60e53 in worker () at w.c:7

Thread 1 (Thread 0x7f0d79a8a740 (LWP 103) "a.out"):
#0  main () at dir/a.cpp:42

zipmpi: process 104
ptrace: Operation not permitted.
The program is not being run.
)";

constexpr const char* by_eu_stack = R"(
zipmpi: process 100
PID 100 - process
TID 100:
#0  0x00007f0a9a189503 clock_nanosleep@GLIBC_2.2.5 - /usr/lib/x86_64-linux-gnu/libc.so.6
    ../sysdeps/unix/sysv/linux/clock_nanosleep.c:71:10
#1  0x0000558088da74af - /usr/bin/a.out
#2  0x0000558088da74b0 main - /usr/bin/a.out
    /opt/app/a.c:5:70
#3  0x00007f0a9a0e124a __libc_start_call_main - /usr/lib/x86_64-linux-gnu/libc.so.6
)";

TEST(Stacks, FoldsTheOutputOfGdb) {
    const HostStacks found = parse_stacks(by_gdb, {{100, {0, "MPI_Barrier"}},
                                                   {102, {1, "MPI_Barrier"}},
                                                   {103, {2, ""}},
                                                   {104, {3, ""}},
                                                   {106, {4, ""}}});
    ASSERT_EQ(found.groups.size(), 3U);
    EXPECT_EQ(found.groups[0].ranks, (std::vector<int>{0, 1}));
    EXPECT_EQ(found.groups[0].frames,
              (Frames{"MPI_Barrier", "(anonymous namespace)::step, a.cpp:31", "main, a.cpp:40"}));
    EXPECT_FALSE(found.groups[1].main_thread);
    EXPECT_EQ(found.groups[1].frames, (Frames{"mpi_recv_, libmpi_mpifh.so", "worker, w.c:7"}));
    EXPECT_EQ(found.groups[2].frames, (Frames{"main, a.cpp:42"}));
    EXPECT_EQ(found.unread, (std::vector<int>{3, 4}));
    EXPECT_EQ(found.reason, "ptrace: Operation not permitted.");
}

TEST(Stacks, ReadsTheOutputOfEuStack) {
    const HostStacks found = parse_stacks(by_eu_stack, {{100, {7, ""}}});
    ASSERT_EQ(found.groups.size(), 1U);
    EXPECT_EQ(found.groups[0].frames,
              (Frames{"clock_nanosleep, clock_nanosleep.c:71", "??, a.out", "main, a.c:5"}));
    EXPECT_EQ(found.groups[0].ranks, (std::vector<int>{7}));
}

TEST(Stacks, AreBounded) {
    std::string text(process_mark);
    text += "9\nTID 9:\n";
    for (int i = 0; i < 64; ++i) text += "#" + std::to_string(i) + " 0x1 f - /a.out\n";
    const HostStacks deep = parse_stacks(text, {{9, {0, ""}}});
    EXPECT_EQ(deep.groups[0].frames.size(), 24U);
    EXPECT_EQ(deep.groups[0].frames.back(), "...");
    HostStacks many{.host = "n1", .tool = "gdb", .groups = {}, .unread = {}, .reason = {}};
    for (int rank = 0; rank < 100; ++rank)
        add_stack(many.groups, {{"f" + std::to_string(rank)}, {rank}, true});
    const std::string report = stacks_report({many}, "limits");
    EXPECT_EQ(std::count(report.begin(), report.end(), '\n'), 1 + 2 * 32 + 1);
    EXPECT_TRUE(report.ends_with("  and 68 other stacks\n"));
}

TEST(Stacks, ReportFoldsHosts) {
    const HostStacks first{.host = "n1",
                           .tool = "gdb",
                           .groups = {{{"MPI_Barrier", "main"}, {0, 1}, true}},
                           .unread = {4},
                           .reason = {}};
    const HostStacks second{.host = "n2",
                            .tool = "gdb",
                            .groups = {{{"MPI_Barrier", "main"}, {2}, true}, {{"main"}, {3}, true}},
                            .unread = {5},
                            .reason = "ptrace: no"};
    const HostStacks none{.host = "n3", .tool = {}, .groups = {}, .unread = {6}, .reason = {}};
    HostStacks copy;
    ASSERT_TRUE(decode(encode(second), copy));
    EXPECT_EQ(stacks_report({first, copy, none}, "at most 1"),
              "mpiexec: stacks of the ranks, by gdb:\n"
              "  [0-2]\n"
              "    MPI_Barrier\n"
              "    main\n"
              "  [3]\n"
              "    main\n"
              "  rank 5 on host n2: ptrace: no\n"
              "  rank 4: not read; at most 1\n"
              "  for the other ranks install gdb or eu-stack (elfutils) on host n3\n");
    EXPECT_EQ(stacks_report({none}, ""),
              "mpiexec: no stacks of the ranks: install gdb or eu-stack (elfutils) on host n3\n");
    EXPECT_FALSE(decode(encode(second).substr(1), copy));
}

} // namespace
