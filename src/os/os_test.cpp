// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "os/arguments.hpp"
#include "os/clock.hpp"
#include "os/futex.hpp"
#include "os/host.hpp"
#include "os/memory.hpp"
#include "os/placement.hpp"
#include "os/random.hpp"
#include "os/socket.hpp"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <thread>

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
    std::thread waker([&] {
        word.store(1);
        futex_wake_all(word);
    });
    while (word.load() == 0) futex_wait(word, 0, 1'000'000'000);
    waker.join();
}

TEST(Host, HasNameAndCpus) {
    EXPECT_FALSE(host_name().empty());
    EXPECT_GE(usable_cpus(), 1);
    const uint64_t before = now_ns();
    EXPECT_LE(before, now_ns());
}

TEST(Host, CpusOfProcessesBoundApartAddUp) {
    CpuUnion none;
    none.add(-1); // nobody has this number
    EXPECT_EQ(none.usable(), 1);
    CpuUnion twice;
    twice.add(0);
    twice.add(0);
    EXPECT_EQ(twice.usable(), usable_cpus());
}

TEST(Random, FillsAllOfItAndNeverTheSame) {
    std::array<uint64_t, 64> one{}, two{};
    ASSERT_TRUE(fill_random(one.data(), sizeof one));
    ASSERT_TRUE(fill_random(two.data(), sizeof two));
    for (size_t i = 0; i < one.size(); ++i) EXPECT_NE(one[i], two[i]);
    EXPECT_TRUE(fill_random(nullptr, 0));
}

TEST(Arguments, EndWithNothing) {
    std::vector<std::string> texts{"a", ""};
    const std::vector<char*> pointers = pointers_to(texts);
    ASSERT_EQ(pointers.size(), 3U);
    EXPECT_EQ(pointers[0], texts[0].data());
    EXPECT_STREQ(pointers[1], "");
    EXPECT_EQ(pointers[2], nullptr);
}

TEST(Placement, GoesWhereToldAndMayStillRunEverywhere) {
    CpuUnion before;
    before.add(0);
    const std::vector<int> cpus = before.list();
    for (unsigned i = 0; i < 2 * cpus.size(); ++i) {
        EXPECT_EQ(move_to_cpu(i), cpus[i % cpus.size()]);
        CpuUnion after;
        after.add(0);
        EXPECT_EQ(after.list(), cpus);
    }
    EXPECT_NE(std::find(cpus.begin(), cpus.end(), current_cpu()), cpus.end());
}

} // namespace
} // namespace zipmpi::os
