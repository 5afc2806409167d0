// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/report/exit_report.hpp"

#include <csignal>
#include <gtest/gtest.h>

using namespace zipmpi;
using namespace zipmpi::launch;

namespace {

RankExit sample(int status) {
    RankExit d;
    d.rank = 3;
    d.world_size = 8;
    d.others_alive = 7;
    d.host = "node7";
    d.program = "./a.out";
    d.pid = 4711;
    d.wait_status = status;
    d.snapshot.function = "MPI_Recv";
    d.snapshot.peer = 1;
    d.snapshot.tag = 7;
    d.snapshot.comm = "MPI_COMM_WORLD";
    return d;
}

TEST(RankExit, NamesSignalHostAndCall) {
    const Diagnostic p = describe(sample(SIGSEGV));
    EXPECT_EQ(p.what, "rank 3 was killed by SIGSEGV (signal 11); the other 7 ranks were terminated");
    EXPECT_EQ(p.where, "rank 3 of 8, host node7, pid 4711, in MPI_Recv (peer 1, tag 7, MPI_COMM_WORLD)");
    EXPECT_FALSE(p.why.empty());
    EXPECT_FALSE(p.fix.empty());
}

TEST(RankExit, NamesLastCallOutsideMpi) {
    RankExit d = sample(3 << 8);
    d.snapshot.function.clear();
    d.last_call = "MPI_Send";
    d.others_alive = 1;
    const Diagnostic p = describe(d);
    EXPECT_EQ(p.what, "rank 3 exited with status 3; the other rank was terminated");
    EXPECT_NE(p.where.find("outside MPI; its last MPI call was MPI_Send"), std::string::npos);
}

TEST(RankExit, MissingFinalize) {
    RankExit d = sample(0);
    d.snapshot.function.clear();
    d.others_alive = 0;
    EXPECT_EQ(describe(d).what, "rank 3 exited without calling MPI_Finalize");
}

TEST(RankExit, EverySignalHasFourParts) {
    for (int s = 1; s < 32; ++s) {
        const Diagnostic p = describe(sample(s));
        EXPECT_FALSE(p.what.empty() || p.where.empty() || p.why.empty() || p.fix.empty()) << s;
    }
}

TEST(RankExit, Abort) {
    const Diagnostic p = describe_abort(sample(0), 7, "");
    EXPECT_EQ(p.what, "rank 3 called MPI_Abort with error code 7; the other 7 ranks were terminated");
    EXPECT_FALSE(p.why.empty());
}

} // namespace
