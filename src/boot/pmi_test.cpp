// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/param.hpp"
#include "boot/fake_launcher.hpp"
#include "boot/pmi_client.hpp"
#include "os/clock.hpp"

#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>

namespace zipmpi::boot {
namespace {

struct Pair {
    Pair() {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) std::abort();
        client.reset(ends[0]);
        server.reset(ends[1]);
    }
    os::Fd client, server;
};

void short_handshake() { // one second instead of five
    const char* env[] = {"ZIPMPI_LAUNCH_HANDSHAKE_TIMEOUT=1", nullptr};
    ASSERT_TRUE(load_params(env).empty());
}

bool start_as(int fd, int rank, int size, bool slurm, Job& job, Diagnostic& why) {
    const std::string f = "PMI_FD=" + std::to_string(fd), r = "PMI_RANK=" + std::to_string(rank),
                      s = "PMI_SIZE=" + std::to_string(size);
    const char* env[] = {f.c_str(), r.c_str(), s.c_str(), slurm ? "PMI_JOBID=5.0" : nullptr, nullptr};
    return start(env, job, why);
}

TEST(Field, FindsWholeNames) {
    std::string v;
    EXPECT_TRUE(field("cmd=x rc=0 value=a=b", ' ', "value", v));
    EXPECT_EQ(v, "a=b");
    EXPECT_TRUE(field("cmd=x;rc=;", ';', "rc", v));
    EXPECT_EQ(v, "");
    EXPECT_FALSE(field("xrc=0 rcx=1 rc", ' ', "rc", v));
    EXPECT_FALSE(field("", ' ', "rc", v));
}

TEST(PmiConnection, RepliesMayArriveInFragments) {
    Pair p;
    std::thread server([&] {
        for (const char c : std::string("    13cmd=abc;rc=0;")) {
            (void)!write(p.server.get(), &c, 1);
            usleep(1000);
        }
    });
    PmiConnection c(p.client.get());
    c.set_framing(Framing::frames);
    EXPECT_TRUE(c.request("cmd=q;", "abc", 5000)) << c.failure();
    EXPECT_TRUE(c.reply_field_is("rc", "0"));
    server.join();
}

TEST(PmiConnection, InvalidFramesAreReportedWithTheirStart) {
    for (const char* bad : {"xxxxxxcmd=abc;", "999999cmd=abc;", "-00001c", "     xcmd"}) {
        Pair p;
        ASSERT_GT(write(p.server.get(), bad, std::strlen(bad)), 0);
        PmiConnection c(p.client.get());
        c.set_framing(Framing::frames);
        EXPECT_FALSE(c.request("cmd=q;", "abc", 500)) << bad;
        EXPECT_NE(c.failure().find("not a PMI-2 message"), std::string::npos) << c.failure();
    }
}

TEST(PmiConnection, UnterminatedLineIsBounded) {
    Pair p;
    std::thread server([&] {
        const std::string block(4096, 'x');
        while (send(p.server.get(), block.data(), block.size(), MSG_NOSIGNAL) > 0) {
        }
    });
    PmiConnection c(p.client.get());
    EXPECT_FALSE(c.request("cmd=q", "abc", 5000));
    EXPECT_NE(c.failure().find("unterminated"), std::string::npos) << c.failure();
    p.client.reset();
    server.join();
}

TEST(PmiConnection, TruncatedFrameTimesOut) {
    Pair p;
    ASSERT_GT(write(p.server.get(), "    50cmd=abc;", 14), 0);
    PmiConnection c(p.client.get());
    c.set_framing(Framing::frames);
    EXPECT_FALSE(c.request("cmd=q;", "abc", 200));
    EXPECT_NE(c.failure().find("in time"), std::string::npos);
}

TEST(PmiConnection, ControlCharactersAreReplaced) {
    Pair p;
    ASSERT_GT(write(p.server.get(), "\x1b[31mred\n", 9), 0);
    PmiConnection c(p.client.get());
    EXPECT_FALSE(c.request("cmd=q", "abc", 200));
    EXPECT_EQ(c.failure().find('\x1b'), std::string::npos);
}

class Versions : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Pmi, Versions, testing::Bool(),
                         [](const auto& i) { return i.param ? "Version2" : "Version1"; });

TEST_P(Versions, IdentityAndExchange) {
    FakeLauncher fake(1, {});
    Job job;
    Diagnostic why;
    ASSERT_TRUE(start_as(fake.client_fd(0), 0, 1, GetParam(), job, why)) << format(why);
    EXPECT_EQ(job.protocol, GetParam() ? Protocol::pmi2 : Protocol::pmi1);
    EXPECT_EQ(job.id, GetParam() ? "fake2" : "fake");
    EXPECT_EQ(job.app_number, 2);
    EXPECT_EQ(job.universe_size, 9);
    EXPECT_EQ(job.node_ranks, std::vector<int>{0});
    EXPECT_TRUE(fcntl(fake.client_fd(0), F_GETFD) & FD_CLOEXEC);
    std::string value;
    const std::string longest(Launcher::value_limit, 'v');
    EXPECT_TRUE(job.launcher->put("k", longest));
    EXPECT_FALSE(job.launcher->put("k", longest + "v"));
    EXPECT_TRUE(job.launcher->fence());
    EXPECT_TRUE(job.launcher->get(0, "k", value));
    EXPECT_EQ(value, longest);
    EXPECT_FALSE(job.launcher->get(0, "absent", value));
    job.launcher->finalize();
    fake.stop();
    EXPECT_EQ(fake.finalized, 1);
}

// abort() waits to be killed, so a child process calls it and the test acts as the launcher.
TEST_P(Versions, AbortReachesTheLauncher) {
    FakeLauncher fake(1, {}, FakeLauncher::later);
    const pid_t rank = fork();
    if (rank == 0) {
        Job job;
        Diagnostic why;
        if (start_as(fake.client_fd(0), 0, 1, GetParam(), job, why))
            job.launcher->abort(7, "text; with=odd\ncharacters");
        _exit(1);
    }
    fake.begin();
    for (int i = 0; i < 4000 && fake.aborted_with == -1; ++i) usleep(1000);
    EXPECT_EQ(fake.aborted_with, GetParam() ? 1 : 7);
    kill(rank, SIGKILL);
    int status = 0;
    waitpid(rank, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
}

TEST_P(Versions, UnresponsiveServerTimesOut) {
    short_handshake();
    Pair p;
    Job job;
    Diagnostic why;
    const uint64_t begin = os::now_ns();
    EXPECT_FALSE(start_as(p.client.get(), 0, 2, GetParam(), job, why));
    EXPECT_LT(os::now_ns() - begin, 3'000'000'000U);
    EXPECT_NE(why.why.find("did not reply in time"), std::string::npos) << why.why;
    EXPECT_NE(why.where.find("rank 0 of 2"), std::string::npos);
}

TEST_P(Versions, ClosedConnectionIsReported) {
    Pair p;
    p.server.reset();
    Job job;
    Diagnostic why;
    EXPECT_FALSE(start_as(p.client.get(), 0, 2, GetParam(), job, why));
    for (const auto& part : {why.what, why.where, why.why, why.fix}) EXPECT_FALSE(part.empty());
}

TEST(Pmi, FallsBackToVersion1) {
    FakeBehavior only_version_1;
    only_version_1.version_2 = false;
    FakeLauncher fake(1, only_version_1);
    Job job;
    Diagnostic why;
    ASSERT_TRUE(start_as(fake.client_fd(0), 0, 1, true, job, why)) << format(why);
    EXPECT_EQ(job.protocol, Protocol::pmi1);
}

TEST(Pmi, Version2MismatchIsReported) {
    FakeLauncher fake(2, {});
    Job job;
    Diagnostic why;
    EXPECT_FALSE(start_as(fake.client_fd(1), 0, 2, true, job, why));
    EXPECT_NE(why.why.find("launcher reports rank 1 of 2"), std::string::npos) << why.why;
}

TEST(Pmi, MappingOfSeveralNodes) {
    FakeBehavior two_nodes;
    two_nodes.mapping_text = "(vector,(0,2,2))";
    FakeLauncher fake(4, two_nodes);
    Job job;
    Diagnostic why;
    ASSERT_TRUE(start_as(fake.client_fd(3), 3, 4, false, job, why)) << format(why);
    EXPECT_EQ(job.node_ranks, (std::vector<int>{2, 3}));
    EXPECT_EQ(job.local_index, 1);
    segment::NodeTable nodes;
    ASSERT_TRUE(find_nodes(job, nodes, why)) << format(why);
    EXPECT_EQ(nodes.node_of, (std::vector<uint32_t>{0, 0, 1, 1}));
    EXPECT_EQ(nodes.count, 2U);
    EXPECT_EQ(nodes.own, 1U);
}

TEST(Pmi, InvalidDescriptor) {
    Job job;
    Diagnostic why;
    EXPECT_FALSE(start_as(987, 0, 2, false, job, why));
    EXPECT_NE(why.why.find("PMI_FD=987 is not an open descriptor"), std::string::npos) << why.why;
    const os::Fd file(open("/dev/null", O_RDWR | O_CLOEXEC));
    EXPECT_FALSE(start_as(file.get(), 0, 2, false, job, why));
    EXPECT_NE(why.why.find("not a socket"), std::string::npos) << why.why;
}

} // namespace
} // namespace zipmpi::boot
