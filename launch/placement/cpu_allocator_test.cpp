// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Concurrent jobs on one host. Each job opens the claims file separately, so that jobs within one process
// conflict like daemons.
#include "launch/placement/cpu_allocator.hpp"
#include "launch/placement/synthetic_cores.hpp"

#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <optional>
#include <set>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>

using namespace zipmpi;
using namespace zipmpi::launch;

namespace {

HostCores plain_cores(int count) {
    CpuList cpus;
    for (int i = 0; i < count; ++i) cpus.push_back(i);
    return cores_of({}, cpus);
}

struct JobSpec {
    uint32_t ranks = 1;
    Unit bind = Unit::automatic;
    CpuList busy;
    CpuAllocator::Share share;
};

class Jobs : public testing::Test {
  protected:
    void SetUp() override {
        path_ = testing::TempDir() + "zipmpi-claims-" + std::to_string(getpid());
        unlink(path_.c_str());
    }
    void TearDown() override { unlink(path_.c_str()); }

    bool start(CpuAllocator& job, const HostCores& cores, const JobSpec& spec, uint64_t number = 1) const {
        job.open_claims(path_, number);
        return choose(job, cores, spec);
    }
    static bool choose(CpuAllocator& job, const HostCores& cores, const JobSpec& spec) {
        PlacementRequest q;
        q.ranks = spec.ranks;
        q.usable_cores = static_cast<uint32_t>(cores.size());
        q.policy.bind_to = spec.bind;
        Diagnostic why;
        return job.choose(q, cores, spec.busy, assign_cpus, spec.share, why);
    }
    static std::vector<std::string> text(const CpuAllocator& job) {
        std::vector<std::string> all;
        for (const RankCpus& s : job.rank_cpus()) all.push_back(cpu_text(s.cpus));
        return all;
    }
    [[nodiscard]] bool file_exists() const { return access(path_.c_str(), F_OK) == 0; }
    std::string path_;
};

using Texts = std::vector<std::string>;

TEST_F(Jobs, SecondJobTakesLentCpus) {
    const HostCores two = plain_cores(2);
    CpuAllocator first;
    ASSERT_TRUE(start(first, two, {}, 1));
    EXPECT_EQ(text(first), Texts{"0-1"});
    EXPECT_TRUE(first.lends_cpus());
    ASSERT_GE(first.claims().watch_fd(), 0);
    EXPECT_FALSE(first.claims().has_changed());
    {
        CpuAllocator second;
        ASSERT_TRUE(start(second, two, {}, 2));
        EXPECT_EQ(text(second), Texts{"1"});
        EXPECT_TRUE(first.claims().has_changed());
        EXPECT_EQ(first.update_lent(), CoreIndices{0});
        EXPECT_EQ(text(first), Texts{"0"});
        EXPECT_TRUE(first.update_lent().empty());
        CpuAllocator third;
        ASSERT_TRUE(start(third, two, {}, 3));
        EXPECT_EQ(text(third), Texts{""});
        EXPECT_EQ(third.reason(), "not bound: 0 of 2 cores are free; CPUs 0-1 belong to other jobs");
    }
    EXPECT_TRUE(first.claims().has_changed());
    EXPECT_EQ(first.update_lent(), CoreIndices{0});
    EXPECT_EQ(text(first), Texts{"0-1"});
}

TEST_F(Jobs, LastJobRemovesFile) {
    {
        CpuAllocator first;
        ASSERT_TRUE(start(first, plain_cores(2), {}, 1));
        {
            CpuAllocator second;
            ASSERT_TRUE(start(second, plain_cores(2), {}, 2));
        }
        EXPECT_TRUE(file_exists());
        remove_unused_claims(path_);
        EXPECT_TRUE(file_exists());
    }
    EXPECT_FALSE(file_exists());
}

TEST_F(Jobs, ReplacedFileIsKept) {
    std::optional<CpuClaims> first(std::in_place);
    CpuClaims second;
    ASSERT_TRUE(first->open(path_, 1));
    ASSERT_EQ(unlink(path_.c_str()), 0);
    ASSERT_TRUE(second.open(path_, 2));
    first.reset();
    EXPECT_TRUE(file_exists());
    second.close();
    EXPECT_FALSE(file_exists());
}

TEST_F(Jobs, KilledJobLosesClaims) {
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        CpuAllocator job;
        const bool good = start(job, plain_cores(2), {2, Unit::automatic, {}, {}}, 1);
        const char reason = good && !job.rank_cpus()[1].cpus.empty() ? 'y' : 'n';
        if (write(ready[1], &reason, 1) != 1) _exit(1);
        for (;;) pause();
    }
    char reason = 'n';
    ASSERT_EQ(read(ready[0], &reason, 1), 1);
    EXPECT_EQ(reason, 'y');
    {
        CpuAllocator other;
        ASSERT_TRUE(start(other, plain_cores(2), {}, 2));
        EXPECT_EQ(text(other), Texts{""});
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_TRUE(file_exists());
    {
        CpuAllocator other;
        ASSERT_TRUE(start(other, plain_cores(2), {}, 2));
        EXPECT_EQ(text(other), Texts{"0-1"});
    }
    EXPECT_FALSE(file_exists());
}

TEST_F(Jobs, FileOfAnotherUserIsNotUsed) {
    const std::string elsewhere = path_ + ".elsewhere";
    CpuClaims claims;
    ASSERT_EQ(symlink(elsewhere.c_str(), path_.c_str()), 0);
    EXPECT_FALSE(claims.open(path_, 1));
    EXPECT_NE(access(elsewhere.c_str(), F_OK), 0);
    unlink(path_.c_str());
    const int fd = open(path_.c_str(), O_RDWR | O_CREAT, 0600);
    fchmod(fd, 0666);
    close(fd);
    EXPECT_FALSE(claims.open(path_, 1));
    int conflict = -1;
    EXPECT_TRUE(claims.claim({0}, conflict)); // then everything is free
    EXPECT_EQ(claims.borrow({1}), CpuList{1});
    if (geteuid() == 0) {
        ASSERT_EQ(chmod(path_.c_str(), 0600) + chown(path_.c_str(), 12345, 12345), 0);
        EXPECT_FALSE(claims.open(path_, 1));
    }
}

TEST_F(Jobs, RequestedBindingIgnoresOtherJobs) {
    CpuAllocator first, second, third;
    ASSERT_TRUE(start(first, plain_cores(4), {2, Unit::core, {}, {}}, 1));
    EXPECT_EQ(text(first), (Texts{"0", "2"}));
    ASSERT_TRUE(start(second, plain_cores(4), {2, Unit::core, {}, {}}, 2));
    EXPECT_EQ(text(second), (Texts{"1", "3"}));
    ASSERT_TRUE(start(third, plain_cores(4), {2, Unit::core, {}, {}}, 3));
    EXPECT_EQ(text(third), (Texts{"0", "2"}));
}

TEST_F(Jobs, AvoidsBusyCpus) {
    CpuAllocator job, crowded;
    ASSERT_TRUE(start(job, plain_cores(4), {1, Unit::automatic, {0, 2}, {}}, 1));
    EXPECT_EQ(text(job), Texts{"1,3"});
    ASSERT_TRUE(start(crowded, plain_cores(4), {3, Unit::automatic, {0, 2}, {}}, 2));
    EXPECT_EQ(text(crowded), (Texts{"", "", ""}));
    EXPECT_EQ(crowded.reason(),
              "not bound: 1 of 4 cores are free; CPUs 1 belong to other jobs; CPUs 0,2 are busy "
              "with other work");
}

// Four concurrent jobs of two ranks on eight cores: never two ranks on one core.
TEST_F(Jobs, ConcurrentStarts) {
    const HostCores eight = synthetic_cores("package:2 l3:1 l2:2 core:2 pu:2");
    if (eight.empty()) GTEST_SKIP() << "no hwloc";
    for (int round = 0; round < 100; ++round) {
        std::vector<CpuAllocator> jobs(4);
        std::vector<std::thread> starts;
        std::atomic<int> waiting{4};
        for (size_t j = 0; j < jobs.size(); ++j)
            starts.emplace_back([&, j] {
                for (--waiting; waiting > 0;) std::this_thread::yield();
                start(jobs[j], eight, {2, Unit::automatic, {}, {}}, j + 1);
            });
        for (std::thread& t : starts) t.join();
        std::set<int> seen;
        for (CpuAllocator& job : jobs) {
            job.update_lent();
            for (const RankCpus& s : job.rank_cpus()) {
                ASSERT_EQ(s.cpus.size(), 2U) << "two hardware threads of one core";
                for (const int cpu : s.cpus) ASSERT_TRUE(seen.insert(cpu).second) << "round " << round;
            }
        }
    }
}

// Daemons of one job on one machine: first independently, then each with its share.
TEST_F(Jobs, NodesOfOneJobDivideCores) {
    for (const bool see_each_other : {true, false}) {
        std::optional<CpuAllocator> a(std::in_place), b(std::in_place);
        const HostCores four = plain_cores(4);
        ASSERT_TRUE(start(*a, four, {1, Unit::automatic, {}, {}}, 7));
        if (!see_each_other) path_ += "-other";
        ASSERT_TRUE(start(*b, four, {1, Unit::automatic, {}, {}}, 7));
        ASSERT_TRUE(choose(*a, four, {1, Unit::automatic, {}, {0, 2}}));
        ASSERT_TRUE(choose(*b, four, {1, Unit::automatic, {}, {1, 2}}));
        a->update_lent();
        b->update_lent();
        EXPECT_EQ(text(*a), Texts{"0-1"});
        EXPECT_EQ(text(*b), Texts{"2-3"});
        ASSERT_TRUE(choose(*a, four, {3, Unit::automatic, {}, {0, 5}})); // five ranks on four cores
        EXPECT_EQ(text(*a), (Texts{"", "", ""}));
    }
}

TEST_F(Jobs, RebinderKeepsItsCores) {
    CpuAllocator first, second;
    ASSERT_TRUE(start(first, plain_cores(4), {2, Unit::automatic, {}, {}}, 1));
    EXPECT_EQ(first.claim_all(plain_cores(4)).size(), 4U);
    EXPECT_FALSE(first.lends_cpus());
    ASSERT_TRUE(start(second, plain_cores(4), {1, Unit::automatic, {}, {}}, 2));
    EXPECT_EQ(text(second), Texts{""});
    EXPECT_EQ(second.claim_all(plain_cores(6)).cpus, (std::vector<CpuList>{{4}, {5}}));
}

TEST_F(Jobs, CountRanksOfOtherJobs) {
    const HostCores two = plain_cores(2);
    const CpuList cpus = {0, 1};
    CpuAllocator first, third;
    ASSERT_TRUE(start(first, two, {2, Unit::automatic, {}, {}}, 1));
    first.announce_ranks(cpus);
    EXPECT_EQ(first.claims().count_others(cpus, 100), 0U);
    {
        CpuAllocator second; // unbound
        ASSERT_TRUE(start(second, two, {5, Unit::automatic, {}, {}}, 2));
        ASSERT_GE(first.claims().watch_fd(), 0);
        EXPECT_FALSE(first.claims().has_changed());
        second.announce_ranks(cpus);
        EXPECT_TRUE(first.claims().has_changed());
        EXPECT_EQ(second.claims().count_others(cpus, 100), 2U); // CPUs of the first job
        EXPECT_EQ(first.claims().count_others(cpus, 100), 5U);
        EXPECT_EQ(first.claims().count_others({1}, 100), 2U);
        EXPECT_EQ(first.claims().count_others(cpus, 4), 4U);
        ASSERT_TRUE(start(third, plain_cores(1), {2, Unit::automatic, {}, {}}, 3));
        third.announce_ranks({0});
        EXPECT_EQ(first.claims().count_others(cpus, 100), 7U);
        EXPECT_EQ(second.claims().count_others({1}, 100), 1U);
    }
    EXPECT_EQ(first.claims().count_others(cpus, 100), 2U);
}

TEST_F(Jobs, Report) {
    EXPECT_EQ(binding_line(3, "n1", {{0, 1, 4}, {0}}, "its share"),
              "rank 3 on host n1: CPUs 0-1,4: its share");
    EXPECT_EQ(binding_line(3, "n1", {}, "not bound: as requested"),
              "rank 3 on host n1: not bound: as requested");
}

} // namespace
