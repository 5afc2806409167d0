// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/param.hpp"
#include "os/affinity.hpp"
#include "os/arguments.hpp"
#include "os/clock.hpp"
#include "os/futex.hpp"
#include "os/host.hpp"
#include "os/lazy_table.hpp"
#include "os/memory.hpp"
#include "os/parent.hpp"
#include "os/random.hpp"
#include "os/runnable_threads.hpp"
#include "os/socket.hpp"
#include "os/wakeup_socket.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <vector>

namespace zipmpi::os {
namespace {

TEST(Memory, FileIsSparseUntilReserved) {
    const Fd fd = make_memory_file("test", 64 << 20);
    ASSERT_TRUE(fd);
    struct stat st {};
    ASSERT_EQ(fstat(fd.get(), &st), 0);
    EXPECT_EQ(st.st_size, 64 << 20);
    EXPECT_EQ(st.st_blocks, 0);
    ASSERT_TRUE(reserve(fd.get(), 4096, 8192));
    ASSERT_EQ(fstat(fd.get(), &st), 0);
    EXPECT_EQ(st.st_blocks * 512, 8192);
    EXPECT_NE(ftruncate(fd.get(), 4096), 0) << "shrinking must be refused";
}

TEST(Memory, TwoMappingsSeeTheSameBytes) {
    const Fd fd = make_memory_file("test", 4096);
    ASSERT_TRUE(reserve(fd.get(), 0, 4096));
    const Mapping a(fd.get(), 4096);
    const Mapping b(fd.get(), 4096);
    ASSERT_TRUE(a && b);
    a.base()[17] = std::byte{42};
    EXPECT_EQ(b.base()[17], std::byte{42});
}

size_t resident_pages(void* base, size_t pages) {
    std::vector<unsigned char> present(pages);
    if (mincore(base, pages * 4096, present.data()) != 0) return pages;
    return static_cast<size_t>(
        std::count_if(present.begin(), present.end(), [](unsigned char p) { return (p & 1) != 0; }));
}

TEST(LazyTable, TakesMemoryForWrittenEntriesOnly) {
    constexpr size_t entries = 1'000'000;
    constexpr size_t pages = entries * sizeof(uint64_t) / 4096;
    LazyTable<uint64_t> table(entries);
    table[0] = 1;
    table[entries - 1] = 2;
    EXPECT_EQ(table[entries / 2], 0U);
    EXPECT_LE(resident_pages(&table[0], pages), 3U);
    table.grow(2 * entries);
    EXPECT_EQ(table.size(), 2 * entries);
    EXPECT_EQ(table[0] + table[entries - 1] + table[2 * entries - 1], 3U);
    EXPECT_LE(resident_pages(&table[0], 2 * pages), 4U);
    table.clear();
    EXPECT_EQ(table[0] + table[entries - 1], 0U);
}

TEST(LazyTable, KeepsEntriesWhenItGrowsFromNothing) {
    LazyTable<uint32_t> table;
    for (uint32_t i = 0; i < 10'000; ++i) {
        table.grow(i + 1);
        EXPECT_EQ(table[i], 0U);
        table[i] = i;
    }
    for (uint32_t i = 0; i < 10'000; ++i) ASSERT_EQ(table[i], i);
}

TEST(Socket, PassesDescriptorAndIdentity) {
    const std::string name = "zipmpi-os-test-" + std::to_string(getpid());
    const Fd listener = listen_abstract(name, 4);
    ASSERT_TRUE(listener);
    EXPECT_FALSE(listen_abstract(name, 4)) << "the name is taken";
    std::thread client([&] {
        const Fd s = connect_abstract(name);
        const Fd got = receive_fd(s.get(), 2000);
        EXPECT_TRUE(got);
        char text[3] = {};
        EXPECT_EQ(pread(got.get(), text, 2, 0), 2);
        EXPECT_STREQ(text, "hi");
    });
    PeerIdentity who;
    const Fd s = accept_peer(listener.get(), 2000, who);
    EXPECT_TRUE(s);
    EXPECT_EQ(who.uid, geteuid());
    EXPECT_EQ(who.pid, getpid());
    const Fd file = make_memory_file("x", 4096);
    EXPECT_EQ(pwrite(file.get(), "hi", 2, 0), 2);
    EXPECT_TRUE(send_fd(s.get(), file.get()));
    client.join();
}

TEST(Socket, AcceptTimesOut) {
    const Fd listener = listen_abstract("zipmpi-os-quiet-" + std::to_string(getpid()), 4);
    PeerIdentity who;
    EXPECT_FALSE(accept_peer(listener.get(), 10, who));
}

TEST(Futex, WakesAndTimesOut) {
    std::atomic<uint32_t> word{0};
    EXPECT_EQ(futex_wait(word, 1, 1'000'000), FutexWait::changed);
    EXPECT_EQ(futex_wait(word, 0, 1'000'000), FutexWait::timed_out);
    // The word does not change: only a wakeup can end this sleep before the timeout.
    std::atomic<bool> over{false};
    FutexWait how = FutexWait::changed;
    std::thread sleeper([&] {
        while (how == FutexWait::changed)
            how = futex_wait(word, 0, 20'000'000'000); // a signal may end it, too
        over = true;
    });
    while (!over) {
        futex_wake_all(word);
        std::this_thread::yield();
    }
    sleeper.join();
    EXPECT_EQ(how, FutexWait::woken);
}

TEST(Host, HasNameAndCpus) {
    EXPECT_FALSE(host_name().empty());
    EXPECT_GE(usable_cpus(), 1);
    const uint64_t before = now_ns();
    EXPECT_LE(before, now_ns());
}

// A process that is bound to one CPU until this object ends.
struct BoundChild {
    pid_t pid = -1;
    explicit BoundChild(int cpu) {
        pid = fork();
        if (pid == 0)
            for (;;) pause();
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<size_t>(cpu), &one);
        EXPECT_EQ(sched_setaffinity(pid, sizeof one, &one), 0);
    }
    BoundChild(const BoundChild&) = delete;
    BoundChild& operator=(const BoundChild&) = delete;
    ~BoundChild() {
        kill(pid, SIGKILL);
        waitpid(pid, nullptr, 0);
    }
};

TEST(Host, UnionOfCpusOfBoundProcesses) {
    CpuUnion none;
    none.add(-1); // not a valid pid
    EXPECT_EQ(none.usable(), 1);
    CpuUnion twice;
    twice.add(0);
    twice.add(0);
    EXPECT_EQ(twice.usable(), usable_cpus());
    const std::vector<int> all = twice.list();
    if (all.size() < 2) GTEST_SKIP() << "there is one CPU only";
    CpuUnion apart;
    for (size_t i = 0; i < 2; ++i) {
        const BoundChild child(all[i]);
        apart.add(child.pid);
        EXPECT_EQ(apart.list(), std::vector<int>(all.begin(), all.begin() + static_cast<long>(i) + 1));
    }
}

TEST(RunnableThreads, TextIsParsed) {
    EXPECT_EQ(parse_runnable_threads("0.20 0.18 0.12 1/80 11206\n"), 1U);
    EXPECT_EQ(parse_runnable_threads("123.45 7.00 0.00 4096/80000 1\n"), 4096U);
    for (const char* bad :
         {"", "0.20", "0.20 0.18 0.12", "0.20 0.18 0.12 ", "0.20 0.18 0.12 x/80", "0.20 0.18 0.12 3"})
        EXPECT_EQ(parse_runnable_threads(bad), 0U) << bad;
}

TEST(RunnableThreads, CountsTheCallerAndOthers) {
    RunnableThreads threads;
    EXPECT_GE(threads.count(), 1U);
    std::atomic<bool> over = false;
    std::thread busy([&] {
        while (!over) {
        }
    });
    bool counted = false;
    for (int i = 0; i < 1000 && !counted; ++i) counted = threads.count() >= 2;
    over = true;
    busy.join();
    EXPECT_TRUE(counted);
}

TEST(Random, FillsTheBufferWithDifferentBytes) {
    std::array<uint64_t, 64> one{}, two{};
    ASSERT_TRUE(fill_random(one.data(), sizeof one));
    ASSERT_TRUE(fill_random(two.data(), sizeof two));
    for (size_t i = 0; i < one.size(); ++i) EXPECT_NE(one[i], two[i]);
    EXPECT_TRUE(fill_random(nullptr, 0));
}

TEST(Arguments, EndWithNull) {
    std::vector<std::string> texts{"a", ""};
    const std::vector<char*> pointers = pointers_to(texts);
    ASSERT_EQ(pointers.size(), 3U);
    EXPECT_EQ(pointers[0], texts[0].data());
    EXPECT_STREQ(pointers[1], "");
    EXPECT_EQ(pointers[2], nullptr);
}

// Waits for the end of file on a pipe whose write end is held by a process until it exits.
bool exits_in_time(int reader) {
    pollfd end{reader, POLLIN, 0};
    return poll(&end, 1, 5000) == 1 && (end.revents & POLLHUP) != 0;
}

TEST(Parent, ChildDiesWithParentOrIfItIsAlreadyDead) {
    for (const bool dead_already : {false, true}) {
        int held[2];
        int go[2];
        ASSERT_EQ(pipe(held), 0);
        ASSERT_EQ(pipe(go), 0);
        const pid_t parent = fork();
        if (parent == 0) {
            const pid_t self = getpid();
            if (fork() == 0) {
                char byte = 0;
                if (dead_already && read(go[0], &byte, 1) != 1) _exit(1);
                os::die_with_parent(self);
                if (!dead_already && write(go[1], "x", 1) != 1) _exit(1);
                for (;;) pause();
            }
            char byte = 0;
            if (!dead_already && read(go[0], &byte, 1) != 1) _exit(1);
            _exit(0);
        }
        ASSERT_EQ(waitpid(parent, nullptr, 0), parent);
        if (dead_already) {
            ASSERT_EQ(write(go[1], "x", 1), 1);
        }
        close(held[1]);
        EXPECT_TRUE(exits_in_time(held[0])) << "dead already: " << dead_already;
        for (const int fd : {held[0], go[0], go[1]}) close(fd);
    }
}

// Users of the host can list the socket and send to it, but not wake its owner.
TEST(WakeupSocket, DatagramsWithoutSecretAreDropped) {
    WakeupSocket receiver;
    WakeupSocket peer;
    const uint64_t id = receiver.open();
    ASSERT_NE(id, 0U);
    constexpr int64_t short_ns = 20'000'000;
    constexpr int64_t long_ns = 5'000'000'000;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const int n = std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "zipmpi-wake-%08x",
                                static_cast<unsigned>(id >> 32U));
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<size_t>(n));
    const Fd other(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(connect(other.get(), reinterpret_cast<const sockaddr*>(&address), length), 0);
    for (const char* const text : {"", "x", "guess", "a longer guess"})
        static_cast<void>(!write(other.get(), text, std::strlen(text)));
    EXPECT_FALSE(receiver.wait(-1, short_ns));
    peer.notify(id);
    EXPECT_TRUE(receiver.wait(-1, long_ns));
    EXPECT_FALSE(receiver.wait(-1, short_ns)) << "the wakeup is consumed";
}

TEST(Affinity, MigratesWithoutBinding) {
    CpuUnion before;
    before.add(0);
    const std::vector<int> cpus = before.list();
    for (unsigned i = 0; i < 2 * cpus.size(); ++i) {
        EXPECT_EQ(migrate_to_cpu(i), cpus[i % cpus.size()]);
        CpuUnion after;
        after.add(0);
        EXPECT_EQ(after.list(), cpus);
    }
    EXPECT_NE(std::find(cpus.begin(), cpus.end(), current_cpu()), cpus.end());
}

// Listens on the loopback address; returns the port, or -errno.
int listen_on_loopback(Fd& socket) {
    socket.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return listen_tcp(socket.get(), reinterpret_cast<sockaddr*>(&a), sizeof a, 8) ? ntohs(a.sin_port)
                                                                                  : -errno;
}

TEST(Socket, ListensOnlyOnPortsOfTheRange) {
    const char* range[] = {"ZIPMPI_NET_PORTS=29341-29343", nullptr};
    load_params(range);
    Fd sockets[4];
    std::array<int, 4> ports{};
    for (size_t i = 0; i < 4; ++i) ports[i] = listen_on_loopback(sockets[i]);
    EXPECT_EQ(ports[3], -EADDRINUSE); // the other three have all of them
    std::sort(ports.begin(), ports.begin() + 3);
    EXPECT_EQ(ports[0], 29341);
    EXPECT_EQ(ports[2], 29343);
    for (const char* wrong : {"29341", "29343-29341", "0-5", "5-70000", "a-b", "29341-29343x"}) {
        const std::string text = std::string("ZIPMPI_NET_PORTS=") + wrong;
        const char* setting[] = {text.c_str(), nullptr};
        load_params(setting);
        Fd socket;
        EXPECT_EQ(listen_on_loopback(socket), -EINVAL) << wrong;
    }
    const char* none[] = {"ZIPMPI_NET_PORTS=", nullptr};
    load_params(none);
    Fd socket;
    EXPECT_GT(listen_on_loopback(socket), 0);
}

TEST(Socket, PortOfAnEndedConnectionIsUsedAgain) {
    const char* range[] = {"ZIPMPI_NET_PORTS=29351-29351", nullptr};
    load_params(range);
    Fd listener;
    ASSERT_EQ(listen_on_loopback(listener), 29351);
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_port = htons(29351);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    Fd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(connect(client.get(), reinterpret_cast<sockaddr*>(&a), sizeof a), 0);
    Fd served(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    served.reset(); // this end closes first: it keeps the port for a minute
    client.reset();
    listener.reset();
    EXPECT_EQ(listen_on_loopback(listener), 29351);
    const char* none[] = {"ZIPMPI_NET_PORTS=", nullptr};
    load_params(none);
}

} // namespace
} // namespace zipmpi::os
