// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/placement/host_list.hpp"

#include <gtest/gtest.h>

using namespace zipmpi::launch;

namespace {

std::string list_text(const HostList& hosts) {
    std::string text;
    for (const Host& h : hosts) text += h.name + "=" + std::to_string(h.slots) + " ";
    return text;
}

std::string option(std::string_view text) {
    HostList hosts;
    std::string wrong;
    return parse_host_option(text, hosts, wrong) ? list_text(hosts) : "wrong: " + wrong;
}
std::string file(std::string_view text) {
    HostList hosts;
    std::string wrong;
    return parse_host_file(text, hosts, wrong) ? list_text(hosts) : "wrong: " + wrong;
}
std::string pairs(std::string_view text) {
    HostList hosts;
    std::string wrong;
    return parse_host_pairs(text, hosts, wrong) ? list_text(hosts) : "wrong: " + wrong;
}
std::string slurm(std::string_view nodes, std::string_view tasks) {
    HostList hosts;
    std::string wrong;
    return parse_slurm(nodes, tasks, hosts, wrong) ? list_text(hosts) : "wrong: " + wrong;
}

TEST(Hosts, Option) {
    EXPECT_EQ(option("a:2,b,user@c.d:10"), "a=2 b=1 user@c.d=10 ");
    EXPECT_EQ(option("a,a:3,b"), "a=4 b=1 ");
    EXPECT_EQ(option("10.0.0.1:4,fe80::1,[::1]:2"), "10.0.0.1=4 fe80::1=1 ::1=2 ");
    EXPECT_EQ(option("a:0"), "wrong: a:0");
    EXPECT_EQ(option("a:x"), "wrong: a:x");
    EXPECT_EQ(option("a,,b"), "wrong: ");
    EXPECT_EQ(option(""), "wrong: ");
}

TEST(Hosts, RejectsNamesUnsafeForShellOrAgent) {
    for (const char* bad : {"-oProxyCommand=x", "a;b", "a b", "$(x)", "a`b`", "a\nb", "a|b", "a/b", "a'b"})
        EXPECT_EQ(option(bad).substr(0, 6), "wrong:") << bad;
}

TEST(Hosts, File) {
    EXPECT_EQ(file("# all\nn1 slots=4 max_slots=8\n\n  n2:2 # second\r\nn3\nn1"), "n1=5 n2=2 n3=1 ");
    EXPECT_EQ(file("n1\nn1\nn2\n"), "n1=2 n2=1 ");
    EXPECT_EQ(file("n1 slots=many\n"), "wrong: n1 slots=many");
    EXPECT_EQ(file("# nothing\n"), "wrong: ");
}

TEST(Hosts, Speeds) {
    HostList hosts;
    std::string wrong;
    ASSERT_TRUE(parse_host_file("n1 slots=4 speed=1.5\nn2\nn1 slots=2\n", hosts, wrong));
    EXPECT_EQ(hosts[0].slots, 6U);
    EXPECT_EQ(hosts[0].speed, 1.5);
    EXPECT_EQ(hosts[1].speed, 1);
    for (const char* bad :
         {"n1 speed=0", "n1 speed=-1", "n1 speed=fast", "n1 speed=", "n1 speed=nan", "n1 speed=1e9"})
        EXPECT_EQ(file(bad), std::string("wrong: ") + bad);
}

// The form of the documentation of each batch system.
TEST(Hosts, FilesOfBatchSystems) {
    EXPECT_EQ(file("node5\nnode5\nnode6\nnode6\n"), "node5=2 node6=2 "); // PBS, OAR, LSF
    EXPECT_EQ(
        file("bal13 8 all.q@bal13 UNDEFINED\nbal14.site 4 all.q@bal14 <NULL>\nbal13 2 long.q@bal13 0,1\n"),
        "bal13=10 bal14.site=4 "); // SGE
    EXPECT_EQ(file("pi-worker-0.pi.default.svc slots=2\npi-worker-1.pi.default.svc slots=2\n"),
              "pi-worker-0.pi.default.svc=2 pi-worker-1.pi.default.svc=2 "); // MPI operator, Open MPI
    EXPECT_EQ(file("pi-worker-0.pi.default.svc:2\npi-worker-1.pi.default.svc:2\n"),
              "pi-worker-0.pi.default.svc=2 pi-worker-1.pi.default.svc=2 "); // MPI operator, MPICH and Intel
    EXPECT_EQ(file("n1 0 all.q@n1 UNDEFINED\n"), "wrong: n1 0 all.q@n1 UNDEFINED");
}

TEST(Hosts, Pairs) {
    EXPECT_EQ(pairs("hostA 4 hostB 2 hostC 1 "), "hostA=4 hostB=2 hostC=1 ");
    EXPECT_EQ(pairs("hostA 1  hostA 3"), "hostA=4 ");
    EXPECT_EQ(pairs("hostA"), "wrong: hostA");
    EXPECT_EQ(pairs("hostA 4 hostB x"), "wrong: hostB");
    EXPECT_EQ(pairs(""), "wrong: ");
}

TEST(Hosts, Slurm) {
    EXPECT_EQ(slurm("n[08-10,3],m", "2(x3),1,4"), "n08=2 n09=2 n10=2 n3=1 m=4 ");
    EXPECT_EQ(slurm("r[1-2]n[0,5]", "1(x4)"), "r1n0=1 r1n5=1 r2n0=1 r2n5=1 ");
    EXPECT_EQ(slurm("a,b", ""), "a=1 b=1 ");
    for (const char* bad : {"n[1-", "n[]x[", "n[2-1]", "n[a]", "n[1-99999999999]", "n[0-4000000000]"})
        EXPECT_EQ(slurm(bad, "").substr(0, 6), "wrong:") << bad;
    for (const char* bad : {"2", "2(x2", "2(x3)", "(x2)", "x", "2(y2)", "2(x4000000000)"})
        EXPECT_EQ(slurm("a,b", bad).substr(0, 6), "wrong:") << bad;
}

} // namespace
