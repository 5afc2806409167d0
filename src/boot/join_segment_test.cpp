// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/hex.hpp"
#include "base/job_protocol.hpp"
#include "base/param.hpp"
#include "boot/fake_launcher.hpp"
#include "boot/job.hpp"
#include "os/clock.hpp"
#include "os/host.hpp"
#include "os/socket.hpp"

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sched.h>
#include <set>
#include <sstream>
#include <string_view>
#include <sys/socket.h>
#include <sys/wait.h>

namespace zipmpi::boot {
namespace {

constexpr uint64_t join_limit_ns = 60'000'000'000; // longer than other load delays a join

bool start_as(int fd, int rank, int size, bool version_2, Job& job, Diagnostic& why) {
    const std::string f = "PMI_FD=" + std::to_string(fd), r = "PMI_RANK=" + std::to_string(rank),
                      s = "PMI_SIZE=" + std::to_string(size);
    const char* env[] = {f.c_str(), r.c_str(), s.c_str(), version_2 ? "PMI_JOBID=5.0" : nullptr, nullptr};
    return start(env, job, why);
}

// One rank: joins, stores its pid in its block, waits until all other ranks have joined.
int run_rank(int fd, int rank, int size, bool version_2) {
    Job job;
    segment::NodeSegment segment;
    Diagnostic why;
    if (!start_as(fd, rank, size, version_2, job, why) || !join_segment(job, segment, why)) {
        report(why);
        return 1;
    }
    if (segment.local_ranks() != static_cast<uint32_t>(size) || job.local_index != rank) return 2;
    segment.block(static_cast<uint32_t>(rank)).pid.store(getpid());
    const uint64_t deadline = os::now_ns() + join_limit_ns;
    for (uint32_t i = 0; i < segment.local_ranks(); ++i)
        while (segment.block(i).pid.load() == 0)
            if (os::now_ns() > deadline) return 3;
    job.launcher->finalize();
    return 0;
}

int failures_of(const std::vector<pid_t>& children) {
    int failures = 0;
    for (const pid_t pid : children) {
        int status = 0;
        waitpid(pid, &status, 0);
        failures += status != 0;
    }
    return failures;
}

void all_join(int size, bool version_2, const FakeBehavior& behavior, int puts, int gets) {
    FakeLauncher fake(size, behavior, FakeLauncher::later);
    std::vector<pid_t> children;
    for (int r = 0; r < size; ++r) {
        const pid_t pid = fork();
        if (pid == 0) _exit(run_rank(fake.client_fd(r), r, size, version_2));
        children.push_back(pid);
    }
    fake.begin();
    EXPECT_EQ(failures_of(children), 0);
    fake.stop();
    EXPECT_EQ(fake.puts, puts);
    EXPECT_EQ(fake.gets, gets);
    EXPECT_EQ(fake.finalized, size);
}

TEST(JoinSegment, OnePutOneFenceAndOneGetPerFollower) {
    all_join(6, false, {}, 1, 5);
    all_join(6, true, {}, 1, 5);
}

TEST(JoinSegment, WithoutMappingHostNamesAreExchanged) {
    FakeBehavior no_mapping;
    no_mapping.mapping = false;
    all_join(3, false, no_mapping, 3 + 1, 3 * 2 + 2);
    all_join(3, true, no_mapping, 3 + 1, 3 * 2 + 2);
}

// Joins on a node of its own; the diagnostic must name its version and that of rank 0.
int run_refused_rank(int fd, int rank) {
    Job job;
    segment::NodeSegment segment;
    Diagnostic why;
    if (!start_as(fd, rank, 2, false, job, why)) return 1;
    if (join_segment(job, segment, why)) return 2;
    const std::string own(job_protocol_text());
    const std::string other = own.substr(0, own.size() - 1) + '0';
    return why.why.find(own) != std::string::npos && why.why.find(other) != std::string::npos ? 0 : 3;
}

TEST(JoinSegment, OtherJobProtocolsAreRefused) {
    const std::string before = "protocol ";
    const std::string one = before + std::to_string(job_protocol);
    const std::string none = before + '0';
    FakeBehavior of_rank_0{true, true, "(vector,(0,2,1))", hex_of(one.data(), one.size()),
                           hex_of(none.data(), none.size())};
    FakeLauncher fake(2, of_rank_0, FakeLauncher::later);
    std::vector<pid_t> children;
    for (int r = 0; r < 2; ++r) {
        const pid_t pid = fork();
        if (pid == 0) _exit(run_refused_rank(fake.client_fd(r), r));
        children.push_back(pid);
    }
    fake.begin();
    EXPECT_EQ(failures_of(children), 0);
}

// Joins bound to one CPU, and waits until the segment counts both CPUs.
int join_bound(int fd, int rank, int cpu) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<size_t>(cpu), &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) return 4;
    Job job;
    segment::NodeSegment segment;
    Diagnostic why;
    if (!start_as(fd, rank, 2, false, job, why) || !join_segment(job, segment, why)) return 1;
    const uint64_t deadline = os::now_ns() + join_limit_ns;
    while (segment.header().usable_cpus.load() != 2)
        if (os::now_ns() > deadline) return 3;
    job.launcher->finalize();
    return 0;
}

TEST(JoinSegment, CpusOfBoundRanksAddUp) {
    cpu_set_t all;
    std::vector<int> cpus;
    ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    for (int c = 0; c < CPU_SETSIZE; ++c)
        if (CPU_ISSET(static_cast<size_t>(c), &all)) cpus.push_back(c);
    if (os::usable_cpus() < 2 || cpus.size() < 2) GTEST_SKIP() << "there is one CPU only";
    FakeLauncher fake(2, {}, FakeLauncher::later);
    std::vector<pid_t> children;
    for (int r = 0; r < 2; ++r) {
        const pid_t pid = fork();
        if (pid == 0) _exit(join_bound(fake.client_fd(r), r, cpus[static_cast<size_t>(r)]));
        children.push_back(pid);
    }
    fake.begin();
    EXPECT_EQ(failures_of(children), 0);
}

// Inodes of the sockets of a process.
std::set<std::string> sockets_of(pid_t process) {
    std::set<std::string> inodes;
    std::error_code ended; // the process may end meanwhile
    std::filesystem::directory_iterator fd("/proc/" + std::to_string(process) + "/fd", ended);
    for (; !ended && fd != std::filesystem::directory_iterator(); fd.increment(ended)) {
        std::error_code closed; // or close the descriptor
        const std::string target = std::filesystem::read_symlink(fd->path(), closed).string();
        const std::string_view kind = "socket:[";
        if (!closed && target.starts_with(kind))
            inodes.insert(target.substr(kind.size(), target.size() - kind.size() - 1));
    }
    return inodes;
}

// Names of the segment sockets of a process. Every user of the host can read names.
std::vector<std::string> leader_sockets(pid_t process) {
    const std::set<std::string> own = sockets_of(process);
    std::ifstream sockets("/proc/net/unix");
    std::vector<std::string> names;
    for (std::string line; std::getline(sockets, line);) {
        std::istringstream words(line);
        std::string inode;
        for (int column = 0; column < 7; ++column) words >> inode;
        const size_t at = line.find("@zipmpi-");
        const bool wakes = line.find("@zipmpi-wake-") != std::string::npos; // a socket of every rank
        if (at != std::string::npos && !wakes && own.contains(inode)) names.push_back(line.substr(at + 1));
    }
    return names;
}

// As another user: pretends to be rank 1 at the segment socket of the leader, then writes to the pipe.
// Returns 0 if it connected and received nothing.
int impersonate_rank_1(pid_t leader_process, int pipe) {
    constexpr uid_t other_uid = 65534;
    const std::vector<std::string> names = leader_sockets(leader_process);
    if (setuid(other_uid) != 0) return 4;
    std::vector<os::Fd> leaders;
    for (const auto& name : names) {
        os::Fd leader = os::connect_abstract(name);
        const uint32_t rank = 1;
        if (leader && os::write_all(leader.get(), &rank, sizeof rank)) leaders.push_back(std::move(leader));
    }
    if (leaders.empty() || write(pipe, "m", 1) != 1) return 6;
    for (const os::Fd& leader : leaders)
        if (os::receive_fd(leader.get(), 3000)) return 5;
    return 0;
}

TEST(JoinSegment, RejectsAnotherUser) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    FakeLauncher fake(2, {}, FakeLauncher::later);
    std::vector<pid_t> children;
    int gates[3][2]; // a child starts when its gate is opened
    const auto run = [&](int gate, auto body) {
        ASSERT_EQ(pipe(gates[gate]), 0);
        const pid_t pid = fork();
        if (pid == 0) {
            char byte = 0;
            _exit(read(gates[gate][0], &byte, 1) == 1 ? body() : 9);
        }
        children.push_back(pid);
    };
    const auto open_gate = [&](int gate) { EXPECT_EQ(write(gates[gate][1], "g", 1), 1); };
    run(0, [&] { return run_rank(fake.client_fd(0), 0, 2, false); });
    run(2, [&] { return run_rank(fake.client_fd(1), 1, 2, false); });
    int connected[2];
    ASSERT_EQ(pipe(connected), 0);
    run(1, [&] { return impersonate_rank_1(children[0], connected[1]); });
    fake.begin();
    open_gate(0);
    for (int i = 0; i < 60'000 && leader_sockets(children[0]).empty(); ++i) usleep(1000);
    ASSERT_FALSE(leader_sockets(children[0]).empty());
    open_gate(1);
    close(connected[1]);
    char byte = 0;
    EXPECT_EQ(read(connected[0], &byte, 1), 1); // the other user connects first
    close(connected[0]);
    open_gate(2);
    EXPECT_EQ(failures_of(children), 0);
    for (const auto& gate : gates)
        for (const int end : gate) close(end);
}

TEST(JoinSegment, SingletonHasASegment) {
    const char* env[] = {"HOME=/", nullptr};
    Job job;
    segment::NodeSegment segment;
    Diagnostic why;
    ASSERT_TRUE(start(env, job, why) && join_segment(job, segment, why)) << format(why);
    EXPECT_EQ(job.size, 1);
    EXPECT_EQ(job.launcher, nullptr);
    EXPECT_EQ(segment.local_ranks(), 1U);
    Job second;
    ASSERT_TRUE(start(env, second, why));
    EXPECT_NE(job.id, second.id);
}

TEST(JoinSegment, LauncherExitInFenceIsReported) {
    FakeLauncher fake(2, {});
    Job job;
    segment::NodeSegment segment;
    Diagnostic why;
    ASSERT_TRUE(start_as(fake.client_fd(1), 1, 2, false, job, why));
    std::thread end([&] {
        for (int i = 0; fake.fence_requests == 0 && i < 30'000; ++i) usleep(1000);
        shutdown(fake.client_fd(1), SHUT_RDWR);
    });
    EXPECT_FALSE(join_segment(job, segment, why));
    end.join();
    EXPECT_EQ(fake.fence_requests, 1);
    for (const auto& part : {why.what, why.where, why.why, why.fix}) EXPECT_FALSE(part.empty());
}

// Environment and descriptors that ZipMPI's mpiexec passes to its ranks.
struct Inherited {
    explicit Inherited(int rank_, const char* job_id, int index = 0)
        : fake(2, {}) {
        Diagnostic why;
        EXPECT_TRUE(segment::NodeSegment::make("job-1", {0, 1}, 2, made, why));
        strings = {
            "ZIPMPI_NODE_FD=" + std::to_string(made.fd()), "PMI_FD=" + std::to_string(fake.client_fd(rank_)),
            "PMI_RANK=" + std::to_string(rank_),           "PMI_SIZE=2",
            "ZIPMPI_LOCAL_INDEX=" + std::to_string(index), std::string("ZIPMPI_JOB_ID=") + job_id};
        for (const auto& s : strings) env.push_back(s.c_str());
        env.push_back(nullptr);
    }
    FakeLauncher fake;
    segment::NodeSegment made;
    std::vector<std::string> strings;
    std::vector<const char*> env;
};

TEST(NativeLauncher, StartsWithoutMessagesToTheLauncher) {
    Inherited from(1, "job-1", 1);
    EXPECT_EQ(load_params(from.env.data()).size(), 0U); // its variables are not unknown parameters
    Job job;
    segment::NodeSegment segment;
    Diagnostic why;
    ASSERT_TRUE(start(from.env.data(), job, why)) << format(why);
    EXPECT_EQ(job.protocol, Protocol::mpiexec);
    EXPECT_EQ(job.id, "job-1");
    EXPECT_EQ(job.rank, 1);
    EXPECT_EQ(job.local_index, 1);
    EXPECT_TRUE(job.node_ranks.empty()); // in the segment
    EXPECT_TRUE(fcntl(from.made.fd(), F_GETFD) & FD_CLOEXEC);
    EXPECT_TRUE(fcntl(from.fake.client_fd(1), F_GETFD) & FD_CLOEXEC);
    ASSERT_TRUE(join_segment(job, segment, why));
    segment.block(1).pid.store(4711);
    EXPECT_EQ(from.made.block(1).pid.load(), 4711);
    job.launcher->finalize();
    from.fake.stop();
    EXPECT_EQ(from.fake.finalized, 0); // no message was sent
}

TEST(NativeLauncher, ConnectsOnDemand) {
    Inherited from(0, "job-1");
    Job job;
    Diagnostic why;
    std::string value;
    ASSERT_TRUE(start(from.env.data(), job, why)) << format(why);
    EXPECT_TRUE(job.launcher->put("k", "v"));
    EXPECT_TRUE(job.launcher->get(0, "k", value));
    EXPECT_EQ(value, "v");
    job.launcher->finalize();
    from.fake.stop();
    EXPECT_EQ(from.fake.finalized, 1);
}

TEST(NativeLauncher, RejectsASegmentOfAnotherJobOrRank) {
    Job job;
    Diagnostic why;
    EXPECT_FALSE(start(Inherited(0, "job-2").env.data(), job, why));
    EXPECT_NE(why.why.find("does not match"), std::string::npos) << why.why;
    EXPECT_FALSE(start(Inherited(0, "job-1", 1).env.data(), job, why));
    EXPECT_FALSE(start(Inherited(0, "job-1", 77).env.data(), job, why));
}

TEST(NativeLauncher, ClosedDescriptorsAreReported) {
    const char* env[] = {"ZIPMPI_NODE_FD=987",   "PMI_FD=988",      "PMI_RANK=0", "PMI_SIZE=2",
                         "ZIPMPI_LOCAL_INDEX=0", "ZIPMPI_JOB_ID=j", nullptr};
    Job job;
    Diagnostic why;
    EXPECT_FALSE(start(env, job, why));
    EXPECT_NE(why.why.find("ZIPMPI_NODE_FD=987"), std::string::npos);
    EXPECT_FALSE(why.fix.empty());
}

} // namespace
} // namespace zipmpi::boot
