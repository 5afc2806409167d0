// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/cma/copier.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace zipmpi::transport::cma {
namespace {

struct Pair {
    segment::NodeSegment segment;
    int ready[2] = {-1, -1};
    int proceed[2] = {-1, -1};
    pid_t child = -1;

    // Rank 1 is a child process that runs `prepare` and then waits.
    template <class Prepare>
    explicit Pair(const Prepare& prepare) {
        Diagnostic why;
        EXPECT_TRUE(segment::NodeSegment::make("test", {0, 1}, 2, segment, why)) << format(why);
        EXPECT_EQ(pipe(ready) + pipe(proceed), 0);
        child = fork();
        if (child != 0) {
            char byte = 0;
            EXPECT_EQ(read(ready[0], &byte, 1), 1);
            return;
        }
        const Copier other(segment, 1);
        segment.block(1).pid.store(getpid());
        prepare(segment);
        char byte = 'r';
        if (write(ready[1], &byte, 1) != 1 || read(proceed[0], &byte, 1) != 1) _exit(1);
        _exit(0);
    }
    ~Pair() {
        const char byte = 'g';
        EXPECT_EQ(write(proceed[1], &byte, 1), 1);
        waitpid(child, nullptr, 0);
        for (const int fd : {ready[0], ready[1], proceed[0], proceed[1]}) close(fd);
    }
};

char text[] = "what the parent has";

TEST(Cma, ReadsAnotherProcess) {
    const Pair pair(
        [](const segment::NodeSegment&) { std::memcpy(text, "what the child has ", sizeof text); });
    Copier reader(pair.segment, 0);
    char got[sizeof text] = {};
    if (!reader.read(1, reinterpret_cast<uint64_t>(text), reinterpret_cast<std::byte*>(got), sizeof got))
        GTEST_SKIP() << "CMA is not permitted here";
    EXPECT_STREQ(got, "what the child has ");
}

TEST(Cma, RefusalIsRememberedSilently) {
    const Pair pair([](const segment::NodeSegment& segment) { // looks like a process that cannot be read
        segment.block(1).probe_number.fetch_add(1);
    });
    Copier reader(pair.segment, 0);
    std::byte byte{};
    EXPECT_FALSE(reader.read(1, reinterpret_cast<uint64_t>(text), &byte, 1));
    pair.segment.block(1).probe_number.fetch_sub(1);
    EXPECT_FALSE(reader.read(1, reinterpret_cast<uint64_t>(text), &byte, 1)) << "one refusal is enough";
}

TEST(Cma, BadAddressRevokesPermission) {
    const Pair pair([](const segment::NodeSegment&) {});
    Copier reader(pair.segment, 0);
    std::byte byte{};
    if (!reader.read(1, reinterpret_cast<uint64_t>(text), &byte, 1))
        GTEST_SKIP() << "CMA is not permitted here";
    EXPECT_EQ(byte, static_cast<std::byte>(text[0]));
    EXPECT_FALSE(reader.read(1, 8, &byte, 1));
    EXPECT_FALSE(reader.can_read(1));
}

} // namespace
} // namespace zipmpi::transport::cma
