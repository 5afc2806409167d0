// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/placement/busy_cpus.hpp"
#include "launch/placement/core_shares.hpp"
#include "launch/placement/kernel_share.hpp"
#include "launch/placement/placement.hpp"
#include "launch/placement/placement_text.hpp"
#include "launch/placement/synthetic_cores.hpp"

#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace zipmpi;
using namespace zipmpi::launch;

namespace {

// Two sockets with two second-level caches of two cores of two hardware threads: core c has CPUs 2c, 2c + 1.
constexpr const char* smt = "package:2 l3:1 l2:2 core:2 pu:2";
// Two sockets with two NUMA domains of four cores each; core c is CPU c.
constexpr const char* memories = "package:2 group:2 [numa] l2:2 core:2 pu:1";

struct Case {
    const char* name;
    const char* machine;
    PlacementRequest q;
    std::vector<std::string> expected; // CPUs of each rank; empty: not bound
};

PlacementRequest job(uint32_t ranks, void (*adjust)(PlacementRequest&) = nullptr) {
    PlacementRequest q;
    q.ranks = ranks;
    q.usable_cores = 1000;
    if (adjust != nullptr) adjust(q);
    return q;
}

PlacementRequest mapped(uint32_t ranks, MapStrategy s, Unit unit, uint32_t per_unit = 0) {
    PlacementRequest q = job(ranks);
    q.policy.strategy = s;
    q.policy.map_unit = unit;
    q.policy.per_unit = per_unit;
    return q;
}

PlacementRequest bound(uint32_t ranks, Unit unit) {
    PlacementRequest q = job(ranks);
    q.policy.bind_to = unit;
    return q;
}

PlacementRequest with(PlacementRequest q, void (*change)(PlacementRequest&)) {
    change(q);
    return q;
}

const auto two_cores_each = [](PlacementRequest& q) { q.policy.cores_per_rank = 2; };
constexpr MapStrategy in_turn = MapStrategy::round_robin, on_each = MapStrategy::per_unit;

const Case cases[] = {
    {"one rank", smt, job(1), {"0-15"}},
    {"a socket each", smt, job(2), {"0-7", "8-15"}},
    {"whole caches", smt, job(3), {"0-3", "4-7", "8-15"}},
    {"a cache each", smt, job(4), {"0-3", "4-7", "8-11", "12-15"}},
    {"remainders", smt, job(5), {"0-1", "2-3", "4-7", "8-11", "12-15"}},
    {"a core each", smt, job(8), {"0-1", "2-3", "4-5", "6-7", "8-9", "10-11", "12-13", "14-15"}},
    {"too many", smt, job(9), {"", "", "", "", "", "", "", "", ""}},
    {"a memory each", memories, job(4), {"0-3", "4-7", "8-11", "12-15"}},
    {"three memories", memories, job(3), {"0-3", "4-7", "8-15"}},
    {"a quota", smt, with(job(3), [](PlacementRequest& q) { q.usable_cores = 2; }), {"", "", ""}},
    {"spread", smt, mapped(3, MapStrategy::spread, Unit::automatic), {"0-3", "4-7", "8-15"}},
    {"spread, bound to cores",
     smt,
     with(bound(4, Unit::core), [](PlacementRequest& q) { q.policy.strategy = MapStrategy::spread; }),
     {"0-1", "4-5", "8-9", "12-13"}},
    {"hosts round robin", smt, mapped(2, in_turn, Unit::node), {"0-7", "8-15"}},
    {"ranks per host", smt, mapped(2, on_each, Unit::node, 2), {"0-7", "8-15"}},
    {"by slot", smt, mapped(3, MapStrategy::packed, Unit::slot), {"0-1", "2-3", "4-5"}},
    {"sockets round robin", smt, mapped(3, in_turn, Unit::socket), {"0-1", "8-9", "2-3"}},
    {"caches round robin", smt, mapped(5, in_turn, Unit::l2cache), {"0-1", "4-5", "8-9", "12-13", "2-3"}},
    {"last-level caches round robin", smt, mapped(3, in_turn, Unit::l3cache), {"0-1", "8-9", "2-3"}},
    {"memories round robin", memories, mapped(5, in_turn, Unit::numa), {"0", "4", "8", "12", "1"}},
    {"cores round robin", smt, mapped(2, in_turn, Unit::core), {"0-1", "2-3"}},
    {"first-level caches round robin", smt, mapped(2, in_turn, Unit::l1cache), {"0-1", "2-3"}},
    {"hardware threads round robin", smt, mapped(3, in_turn, Unit::hwthread), {"0", "1", "2"}},
    {"a missing cache is a core", memories, mapped(2, in_turn, Unit::l3cache), {"0", "2"}},
    {"two on each socket", smt, mapped(4, on_each, Unit::socket, 2), {"0-1", "2-3", "8-9", "10-11"}},
    {"one on each cache", smt, mapped(3, on_each, Unit::l2cache, 1), {"0-1", "4-5", "8-9"}},
    {"two cores each", smt, with(job(2), two_cores_each), {"0-3", "8-11"}},
    {"two cores each, in order",
     smt,
     with(mapped(2, MapStrategy::packed, Unit::core), two_cores_each),
     {"0-3", "4-7"}},
    {"two cores each, sockets round robin",
     smt,
     with(mapped(3, in_turn, Unit::socket), two_cores_each),
     {"0-3", "8-11", "4-7"}},
    {"three cores do not straddle",
     smt,
     with(job(2), [](PlacementRequest& q) { q.threads = 3; }),
     {"0-5", "8-13"}},
    {"threads that do not fit", smt, with(job(3), [](PlacementRequest& q) { q.threads = 3; }), {"", "", ""}},
    {"PE beats threads",
     smt,
     with(with(job(1), two_cores_each), [](PlacementRequest& q) { q.threads = 3; }),
     {"0-3"}},
    {"bind to hwthread", smt, bound(2, Unit::hwthread), {"0", "8"}},
    {"all hardware threads", smt, bound(9, Unit::hwthread), {"0", "1", "2", "4", "6", "8", "10", "12", "14"}},
    {"bind to l2cache", smt, bound(2, Unit::l2cache), {"0-3", "8-11"}},
    {"bind to l3cache", smt, bound(2, Unit::l3cache), {"0-7", "8-15"}},
    {"bind to numa", memories, bound(4, Unit::numa), {"0-3", "4-7", "8-11", "12-15"}},
    {"bind to socket", smt, bound(3, Unit::socket), {"0-7", "0-7", "8-15"}},
    {"bind to board", smt, bound(2, Unit::board), {"0-15", "0-15"}},
    {"bind to none", smt, bound(2, Unit::none), {"", ""}},
    {"cores are shared round robin",
     smt,
     bound(10, Unit::core),
     {"0-1", "2-3", "4-5", "6-7", "8-9", "10-11", "12-13", "14-15", "0-1", "2-3"}},
    {"more cores than there are",
     smt,
     with(bound(1, Unit::core), [](PlacementRequest& q) { q.policy.cores_per_rank = 9; }),
     {"0-15"}},
    {"rank by socket",
     smt,
     with(mapped(4, on_each, Unit::socket, 2), [](PlacementRequest& q) { q.policy.rank_by = Unit::socket; }),
     {"0-1", "8-9", "2-3", "10-11"}},
    {"rank by core",
     smt,
     with(mapped(4, in_turn, Unit::socket), [](PlacementRequest& q) { q.policy.rank_by = Unit::core; }),
     {"0-1", "2-3", "8-9", "10-11"}},
    {"a rank file",
     smt,
     with(job(4),
          [](PlacementRequest& q) {
              q.slots = {"1:0-1", "0:*", "3;1:3", ""};
          }),
     {"8-11", "0-7", "6-7,14-15", ""}},
};

TEST(Placement, Cases) {
    for (const Case& c : cases) {
        const HostCores cores = synthetic_cores(c.machine);
        if (cores.empty()) GTEST_SKIP() << "no hwloc";
        Placement p;
        Diagnostic why;
        ASSERT_TRUE(assign_cpus(c.q, cores, p, why)) << c.name << ": " << why.why;
        std::vector<std::string> got;
        for (const RankCpus& s : p.rank_cpus) got.push_back(cpu_text(s.cpus));
        EXPECT_EQ(got, c.expected) << c.name;
        EXPECT_FALSE(p.reason.empty()) << c.name;
    }
}

TEST(Placement, ReportsUnsatisfiablePolicies) {
    const HostCores cores = cores_of({}, {0, 1, 2, 3});
    Placement p;
    Diagnostic why;
    PlacementRequest q = bound(5, Unit::core);
    q.policy.overload_allowed = false;
    EXPECT_FALSE(assign_cpus(q, cores, p, why));
    EXPECT_EQ(why.what, "the ranks cannot be bound");
    for (const char* slots : {"4", "1:0", "x", "0-", "2-1", "", "0:"}) {
        q = job(1);
        q.slots = {slots};
        EXPECT_EQ(assign_cpus(q, cores, p, why), *slots == '\0') << slots;
    }
    ASSERT_TRUE(assign_cpus(job(2), {}, p, why)); // unknown topology
    EXPECT_TRUE(p.rank_cpus[0].cpus.empty());
}

TEST(Placement, OnlyOneCoreOfAShareIsOwned) {
    const HostCores cores = cores_of({}, {0, 1, 2, 3, 4});
    Placement p;
    Diagnostic why;
    ASSERT_TRUE(assign_cpus(job(2), cores, p, why));
    EXPECT_EQ(p.rank_cpus[0].cpus, (CpuList{0, 1, 2}));
    EXPECT_EQ(p.rank_cpus[0].own, (CpuList{0}));
    EXPECT_EQ(p.rank_cpus[1].own, (CpuList{3}));
    PlacementRequest q = job(2);
    q.threads = 2;
    ASSERT_TRUE(assign_cpus(q, cores, p, why)); // requested cores are not lent
    EXPECT_EQ(p.rank_cpus[1].own, p.rank_cpus[1].cpus);
}

// On any machine shares are disjoint and cover all cores, and no unit has two ranks more than another of its
// size, or two ranks while another has none.
TEST(Placement, SharesOnRandomMachines) {
    std::mt19937 random(4711);
    const auto some = [&](int least, int most) {
        return std::to_string(std::uniform_int_distribution(least, most)(random));
    };
    for (int round = 0; round < 60; ++round) {
        const std::string text = "package:" + some(1, 3) + " l3:" + some(1, 3) + " l2:" + some(1, 3) +
                                 " core:" + some(1, 3) + " pu:" + some(1, 2);
        const HostCores cores = synthetic_cores(text.c_str());
        if (cores.empty()) GTEST_SKIP() << "no hwloc";
        for (uint32_t ranks = 1; ranks <= cores.size(); ++ranks) {
            const std::vector<CoreIndices> shares = divide_into_shares(cores.localities, ranks);
            ASSERT_EQ(shares.size(), ranks);
            std::set<uint32_t> seen;
            for (const CoreIndices& s : shares) {
                ASSERT_FALSE(s.empty());
                for (const uint32_t c : s) ASSERT_TRUE(seen.insert(c).second) << text << " " << ranks;
            }
            ASSERT_EQ(seen.size(), cores.size());
            for (const Unit unit : {Unit::socket, Unit::l3cache, Unit::l2cache}) {
                std::vector<uint32_t> count(count_units(cores, unit));
                const std::vector<uint32_t> units = unit_indices(cores.localities, unit);
                for (const CoreIndices& s : shares) ++count[units[s[0]]];
                const auto [least, most] = std::minmax_element(count.begin(), count.end());
                EXPECT_LE(*most - *least, 1U) << text << ", " << ranks << " ranks by " << unit_name(unit);
            }
        }
    }
}

// Compares with a simple model.
TEST(Placement, RoundRobinOnRandomMachines) {
    std::mt19937 random(17);
    for (int round = 0; round < 200; ++round) {
        const auto sockets = static_cast<uint32_t>(1 + random() % 3);
        const auto each = static_cast<uint32_t>(1 + random() % 4);
        const auto k = static_cast<uint32_t>(1 + random() % 2);
        HostCores cores;
        std::vector<CoreIndices> left(sockets);
        for (uint32_t c = 0; c < sockets * each; ++c) {
            cores.cpus.push_back({static_cast<int>(c)});
            const auto socket = static_cast<uint16_t>(c / each);
            const auto number = static_cast<uint16_t>(c);
            cores.localities.push_back({socket, socket, socket, number, number, number});
            left[socket].push_back(c);
        }
        PlacementRequest q =
            mapped(static_cast<uint32_t>(1 + random() % (sockets * each)), in_turn, Unit::socket);
        q.policy.cores_per_rank = k;
        if (each < k || q.ranks > sockets * (each / k)) continue;
        Placement p;
        Diagnostic why;
        ASSERT_TRUE(assign_cpus(q, cores, p, why));
        uint32_t at = 0;
        for (uint32_t r = 0; r < q.ranks; ++r) {
            while (left[at].size() < k) at = (at + 1) % sockets;
            CpuList model;
            for (uint32_t i = 0; i < k; ++i) model.push_back(static_cast<int>(left[at][i]));
            left[at].erase(left[at].begin(), left[at].begin() + k);
            at = (at + 1) % sockets;
            EXPECT_EQ(p.rank_cpus[r].cpus, model) << sockets << " x " << each << ", rank " << r;
        }
    }
}

TEST(Units, Texts) {
    CpuList cpus;
    ASSERT_TRUE(parse_cpu_list("8,0-3,2", cpus));
    EXPECT_EQ(cpu_text(cpus), "0-3,8");
    for (const char* wrong : {"", "a", "1-", "-1", "3-1", "1,,2", "99999", "1 2"})
        EXPECT_FALSE(parse_cpu_list(wrong, cpus)) << wrong;
    Unit unit = Unit::none;
    EXPECT_TRUE(parse_unit("package", unit) && unit == Unit::socket);
    EXPECT_TRUE(parse_unit(unit_name(Unit::l3cache), unit) && unit == Unit::l3cache);
    EXPECT_FALSE(parse_unit("automatic", unit));
}

TEST(Units, SetsOfCores) {
    const HostCores cores = synthetic_cores(smt);
    if (cores.empty()) GTEST_SKIP() << "no hwloc";
    EXPECT_EQ(cpu_text(all_cpus(exclude_cpus(cores, {1, 15}))), "2-13");
    EXPECT_EQ(cpu_text(all_cpus(restrict_to_cpus(cores, {1, 4, 5, 99}))), "1,4-5");
    EXPECT_EQ(count_units(cores, Unit::hwthread), 16U);
    EXPECT_EQ(count_units(cores, Unit::l2cache), 4U);
    EXPECT_EQ(count_units(cores, Unit::board), 1U);
}

TEST(Placement, Text) {
    const HostCores cores = {
        {{0, 4}, {1, 5}, {2, 6}, {3, 7}},
        {{0, 0, 0, 0, 0, 0}, {0, 0, 0, 1, 1, 1}, {1, 1, 1, 2, 2, 2}, {1, 1, 1, 3, 3, 3}}};
    HostPlacementView p{"n1", 3, cores, {6, 7, 8}, {{0, 4}, {2, 6}, {}}, ""};
    EXPECT_EQ(placement_text(p), "node 3, n1\n"
                                 "  socket 0: core 0 (cpu 0,4) rank 6 | core 1 (cpu 1,5) -\n"
                                 "  socket 1: core 2 (cpu 2,6) rank 7 | core 3 (cpu 3,7) -\n"
                                 "  any core: rank 8\n");
}

TEST(BusyCpus, ParsesKernelCounts) {
    const auto before =
        parse_ticks("cpu  9 9 9 9 9\ncpu0 100 0 10 500 3 0 0 0 0 0\ncpu2 7 0 1 50 0\nintr 5\n");
    ASSERT_EQ(before.size(), 3U);
    EXPECT_EQ(before[0].idle, 503U);
    EXPECT_EQ(before[0].used, 110U);
    // CPU 0 works, CPU 2 was idle for a tick; CPU 1 is off.
    EXPECT_EQ(never_idle(before, parse_ticks("cpu0 102 0 11 500 3\ncpu2 8 0 1 51 0\n")), (CpuList{0}));
    EXPECT_TRUE(never_idle(before, before).empty()); // without ticks there is no result
    EXPECT_EQ(parse_running("0.50 0.40 0.30 3/456 7890\n"), 3U);
    EXPECT_EQ(parse_running(""), 0U);
    EXPECT_EQ(parse_running("a b c d"), 0U);
}

TEST(KernelShare, NodesOnOneMachine) {
    using Parts = std::vector<KernelShare>;
    EXPECT_EQ(
        kernel_shares({{0, 1, "a", {0, 1}}, {1, 3, "a", {0, 1}}, {2, 1, "b", {0, 1}}, {4, 2, "a", {0, 1}}}),
        (Parts{{0, 0, 6}, {1, 1, 6}, {4, 4, 6}}));
    EXPECT_EQ(kernel_shares({{0, 1, "a", {0}}, {1, 1, "a", {1}}}), Parts{}); // containers with separate cores
    EXPECT_EQ(kernel_shares({{0, 1, "", {0}}, {1, 1, "", {0}}}), Parts{});   // unknown machine
}

} // namespace
