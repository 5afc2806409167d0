// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Prepared snapshots: each report must name the right ranks.
#include "launch/report/hang.hpp"
#include "launch/report/hang_watch.hpp"
#include "launch/report/report_text.hpp"
#include "launch/report/snapshot_rounds.hpp"

#include <gtest/gtest.h>

using namespace zipmpi;
using namespace zipmpi::launch;

namespace {

constexpr const char* world = "MPI_COMM_WORLD";

RankSnapshot rank_in(int rank, RankPhase phase) {
    RankSnapshot p;
    p.rank = rank;
    p.phase = phase;
    return p;
}

RankSnapshot blocked(int rank, const char* function, PendingOp wait) {
    RankSnapshot p = rank_in(rank, RankPhase::running);
    p.asleep = true;
    p.function = function;
    p.wait_count = 1;
    p.waits = {std::move(wait)};
    return p;
}

RankSnapshot recv(int rank, int from, int tag, const char* comm = world) {
    return blocked(rank, "MPI_Recv", {WaitKind::recv, from, tag, comm, 0, 8});
}

RankSnapshot send(int rank, int to, int tag, const char* comm = world) {
    return blocked(rank, "MPI_Send", {WaitKind::send, to, tag, comm, 0, 1 << 20});
}

RankSnapshot collective(int rank, const char* function, uint32_t number, int root = recorder_none,
                        const char* comm = world) {
    RankSnapshot p =
        blocked(rank, function, {WaitKind::collective, recorder_none, recorder_none, comm, number, 8});
    p.peer = root;
    return p;
}

RankSnapshot exited(int rank, const char* how) {
    RankSnapshot p = rank_in(rank, RankPhase::exited);
    p.exit_reason = how;
    return p;
}

#define EXPECT_REPORT(snapshot, text)                                                                        \
    EXPECT_NE(hang_report(snapshot).find(text), std::string::npos) << hang_report(snapshot)

TEST(Hang, MissingCollective) {
    const Snapshot s = {collective(0, "MPI_Allreduce", 512), recv(1, 3, 7),
                        collective(2, "MPI_Allreduce", 512), collective(3, "MPI_Allreduce", 512)};
    EXPECT_REPORT(s, "collective mismatch: ranks 0,2-3 wait in MPI_Allreduce, rank 1 waits in MPI_Recv");
    EXPECT_REPORT(s, "ranks 0,2-3: wait in MPI_Allreduce (the 512th collective on MPI_COMM_WORLD)");
    EXPECT_REPORT(s, "rank 1: waits in MPI_Recv for a message from rank 3, tag 7 on MPI_COMM_WORLD");
}

TEST(Hang, DifferentFunctions) {
    const Snapshot s = {collective(0, "MPI_Bcast", 5, 0), collective(1, "MPI_Barrier", 5),
                        collective(2, "MPI_Bcast", 5, 0)};
    EXPECT_REPORT(s, "different functions as the 5th collective on MPI_COMM_WORLD");
    EXPECT_REPORT(s, "rank 1 is in MPI_Barrier");
    EXPECT_REPORT(s, "ranks 0,2 are in MPI_Bcast");
}

TEST(Hang, WrongRoot) {
    const Snapshot s = {collective(0, "MPI_Reduce", 3, 0), collective(1, "MPI_Reduce", 3, 1),
                        collective(2, "MPI_Reduce", 3, 0)};
    EXPECT_REPORT(s, "different roots in the 3rd collective");
    EXPECT_REPORT(s, "rank 1 is in MPI_Reduce with root 1");
}

TEST(Hang, OneRankAhead) {
    const Snapshot s = {collective(0, "MPI_Barrier", 8), collective(1, "MPI_Barrier", 9)};
    EXPECT_REPORT(s, "some ranks are ahead");
    EXPECT_REPORT(s, "rank 1 is in the 9th collective on MPI_COMM_WORLD");
}

TEST(Hang, SendSendCycle) {
    const Snapshot s = {send(0, 1, 1), send(1, 0, 1)};
    EXPECT_REPORT(s, "deadlock: 0 \u2192 1 \u2192 0; each of these ranks blocks in a send");
}

TEST(Hang, RecvRecvCycle) {
    const Snapshot s = {recv(0, 1, 1), recv(1, 0, 1), rank_in(2, RankPhase::finalized)};
    EXPECT_REPORT(s, "deadlock: 0 \u2192 1 \u2192 0");
    EXPECT_EQ(hang_report(s).find("blocks in a send"), std::string::npos);
}

TEST(Hang, WrongTag) {
    const Snapshot s = {recv(0, 1, 7), send(1, 0, 8)};
    EXPECT_REPORT(s, "tag mismatch: rank 0 receives tag 7, but rank 1 sends tag 8");
}

TEST(Hang, MessageOnWrongCommunicator) {
    const Snapshot s = {recv(0, 1, 7, "rows"), send(1, 0, 7, world)};
    EXPECT_REPORT(s, "communicator mismatch: rank 0 receives on rows, but rank 1 sends on MPI_COMM_WORLD");
}

TEST(Hang, UnexpectedMessageWithWrongTag) {
    Snapshot s = {recv(0, 1, 7), collective(1, "MPI_Barrier", 1)};
    s[0].near_miss = {1, 8, world};
    EXPECT_REPORT(s, "mpiexec: tag mismatch: rank 0 receives tag 7 from rank 1, but the unexpected message "
                     "from rank 1 has tag 8");
    s[0].near_miss = {1, 7, "rows"};
    EXPECT_REPORT(s, "communicator mismatch: rank 0 receives from rank 1 on MPI_COMM_WORLD, but the "
                     "unexpected message from "
                     "rank 1 is on rows");
    s[0] = recv(0, recorder_any, 7);
    s[0].near_miss = {1, 8, world};
    EXPECT_REPORT(s, "rank 0 receives tag 7 from any rank, but the unexpected message from rank 1 has tag 8");
}

TEST(Hang, PeerHasFinalized) {
    const Snapshot s = {recv(0, 1, 7), rank_in(1, RankPhase::finalized)};
    EXPECT_REPORT(s, "rank 0 waits for rank 1, which has called MPI_Finalize");
}

TEST(Hang, PeerHasExited) {
    const Snapshot s = {recv(0, 2, 7), recv(1, 2, 7), exited(2, "killed by SIGSEGV")};
    EXPECT_REPORT(s, "ranks 0-1 wait for rank 2, which has ended (killed by SIGSEGV)");
}

TEST(Hang, ThreeCycle) {
    const Snapshot s = {recv(0, 1, 1), recv(1, 2, 1), recv(2, 0, 1), recv(3, 0, 1)};
    EXPECT_REPORT(s, "deadlock: 0 \u2192 1 \u2192 2 \u2192 0");
}

TEST(Hang, OneRankComputes) {
    const Snapshot s = {collective(0, "MPI_Barrier", 2), rank_in(1, RankPhase::running),
                        collective(2, "MPI_Barrier", 2)};
    EXPECT_REPORT(s, "ranks 0,2 wait for rank 1, which is in user code, outside MPI");
}

TEST(Hang, OneRankBeforeInit) {
    const Snapshot s = {collective(0, "MPI_Barrier", 1), rank_in(1, RankPhase::no_mpi)};
    EXPECT_REPORT(s, "rank 0 waits for rank 1, which has not called MPI_Init");
}

TEST(Hang, DifferentCommunicators) {
    const Snapshot s = {collective(0, "MPI_Barrier", 2),
                        collective(1, "MPI_Barrier", 1, recorder_none, "rows")};
    EXPECT_REPORT(s, "collectives on different communicators");
    EXPECT_REPORT(s, "rank 1 is in MPI_Barrier on rows");
}

TEST(Hang, WildcardWithoutSender) {
    const Snapshot s = {recv(0, recorder_any, recorder_any), rank_in(1, RankPhase::finalized),
                        rank_in(2, RankPhase::finalized)};
    EXPECT_REPORT(s, "rank 0 waits for a message from any rank, but no rank sends one");
    EXPECT_REPORT(s, "from any rank, any tag");
}

TEST(Hang, BarrierAndRecv) {
    const Snapshot s = {collective(0, "MPI_Barrier", 4), recv(1, 0, 9)};
    EXPECT_REPORT(s, "collective mismatch: rank 0 waits in MPI_Barrier, rank 1 waits in MPI_Recv for a "
                     "message from rank 0, tag 9");
}

TEST(Hang, MinorityInCollective) {
    const Snapshot s = {recv(0, 2, 6), recv(1, 2, 6), collective(2, "MPI_Barrier", 2)};
    EXPECT_REPORT(s, "collective mismatch: ranks 0-1 wait in MPI_Recv, rank 2 waits in MPI_Barrier");
}

TEST(Hang, MissingCollectiveOnAnotherCommunicator) {
    Snapshot s = {collective(0, "MPI_Barrier", 1, recorder_none, "rows"), recv(1, 3, 7), recv(3, 1, 7)};
    s[0].waits[0].world_peer = 1; // peer inside the collective
    s[1] = recv(1, recorder_any, 7);
    s[2] = collective(3, "MPI_Barrier", 1, recorder_none, "rows");
    EXPECT_REPORT(s, "collective mismatch: ranks 0,3 wait in MPI_Barrier, rank 1 waits in MPI_Recv");
}

TEST(Hang, ReportsRanksThatAreBehind) { // rank 2 has completed the mismatched broadcast
    const Snapshot s = {collective(0, "MPI_Bcast", 3, 0), collective(1, "MPI_Bcast", 3, 1),
                        collective(2, "MPI_Barrier", 4)};
    EXPECT_REPORT(s, "different roots in the 3rd collective");
}

TEST(Hang, FirstLineIsDiagnosisLastLineIsFix) {
    const Snapshot s = {recv(0, 1, 1), recv(1, 0, 1)};
    const std::string text = hang_report(s, 2.5);
    EXPECT_EQ(text.rfind("mpiexec: no progress for 2.5 s: deadlock", 0), 0U) << text;
    EXPECT_NE(text.find("\n  fix: "), std::string::npos) << text;
    EXPECT_EQ(text.back(), '\n');
}

RankSnapshot agreement(int rank, const char* comm = world) {
    return blocked(rank, "MPIX_Comm_agree", {WaitKind::other, recorder_none, recorder_none, comm, 0, 0});
}

TEST(Hang, AgreementIsNotAMessage) {
    const Snapshot s = {agreement(0), agreement(1), recv(2, 0, 7)};
    EXPECT_REPORT(s, "collective mismatch: ranks 0-1 wait in MPIX_Comm_agree, rank 2 waits in MPI_Recv for a "
                     "message from rank 0, tag 7");
    EXPECT_REPORT(s, "ranks 0-1: wait in MPIX_Comm_agree for the other ranks on MPI_COMM_WORLD");
    EXPECT_EQ(hang_report(s).find("deadlock"), std::string::npos) << hang_report(s);
    EXPECT_EQ(hang_report(s).find("MPI_Sendrecv"), std::string::npos) << hang_report(s);
    const Snapshot finalized = {agreement(0), rank_in(1, RankPhase::finalized)};
    EXPECT_REPORT(finalized, "rank 0 waits for rank 1, which has called MPI_Finalize");
    EXPECT_REPORT((Snapshot{agreement(0), agreement(1), collective(2, "MPI_Barrier", 3)}),
                  "collective mismatch: ranks 0-1 wait in MPIX_Comm_agree, rank 2 waits in MPI_Barrier");
    EXPECT_REPORT((Snapshot{agreement(0), rank_in(1, RankPhase::running), rank_in(2, RankPhase::running)}),
                  "rank 0 waits for ranks 1-2, which are in user code, outside MPI");
}

TEST(Hang, PluralForSeveralRanks) {
    RankSnapshot busy[2] = {rank_in(1, RankPhase::running), rank_in(2, RankPhase::running)};
    for (RankSnapshot& p : busy) p.function = "MPI_Test";
    const Snapshot s = {rank_in(0, RankPhase::running),
                        busy[0],
                        busy[1],
                        rank_in(3, RankPhase::running),
                        exited(4, "killed"),
                        exited(5, "killed"),
                        rank_in(6, RankPhase::no_mpi),
                        rank_in(7, RankPhase::no_mpi)};
    EXPECT_REPORT(s, "ranks 0,3: are in user code");
    EXPECT_REPORT(s, "ranks 1-2: are in MPI_Test, running");
    EXPECT_REPORT(s, "ranks 4-5: have ended (killed)");
    EXPECT_REPORT(s, "ranks 6-7: have not called MPI_Init");
}

TEST(Hang, NoRankIsBlocked) {
    RankSnapshot busy = rank_in(1, RankPhase::running);
    busy.function = "MPI_Init";
    EXPECT_REPORT((Snapshot{rank_in(0, RankPhase::no_mpi), busy}), "no rank is blocked in MPI");
    EXPECT_REPORT((Snapshot{}), "no rank is blocked in MPI");
}

TEST(Hang, ManyPendingOperationsAreCounted) {
    RankSnapshot p = recv(0, 1, 1);
    p.function = "MPI_Waitall";
    p.waits.assign(6, p.waits[0]);
    p.wait_count = 100;
    EXPECT_REPORT((Snapshot{p, rank_in(1, RankPhase::running)}), "and 96 more");
}

TEST(HangWatch, ReportsOncePerHang) {
    HangWatch w(1.0);
    constexpr uint64_t s = 1'000'000'000;
    Snapshot hang = {recv(0, 1, 1), recv(1, 0, 1)};
    EXPECT_FALSE(w.feed(hang, 1 * s));
    EXPECT_FALSE(w.feed(hang, 1 * s + s / 2));
    EXPECT_TRUE(w.feed(hang, 2 * s));
    EXPECT_FALSE(w.feed(hang, 9 * s));
    hang[0].progress++;
    EXPECT_FALSE(w.feed(hang, 10 * s));
    EXPECT_TRUE(w.feed(hang, 12 * s));
}

TEST(HangWatch, ComputingIsNotAHang) {
    HangWatch w(1.0);
    constexpr uint64_t s = 1'000'000'000;
    const Snapshot busy = {recv(0, 1, 1), rank_in(1, RankPhase::running)};
    for (uint64_t t = 1; t < 9; ++t) EXPECT_FALSE(w.feed(busy, t * s));
    RankSnapshot outside_mpi = rank_in(0, RankPhase::running); // a library thread sleeps, not the program
    outside_mpi.asleep = true;
    HangWatch outside(1.0);
    for (uint64_t t = 1; t < 9; ++t) EXPECT_FALSE(outside.feed({outside_mpi}, t * s));
    HangWatch without_mpi(1.0);
    for (uint64_t t = 1; t < 9; ++t) EXPECT_FALSE(without_mpi.feed({rank_in(0, RankPhase::no_mpi)}, t * s));
}

TEST(ReportText, RankLists) {
    EXPECT_EQ(rank_list({0, 2, 3, 4, 9}), "0,2-4,9");
    EXPECT_EQ(ordinal(1), "1st");
    EXPECT_EQ(ordinal(12), "12th");
    EXPECT_EQ(ordinal(103), "103rd");
}

// Host 1 replies to the first request after host 0 has replied to the second.
TEST(Hang, PartsOfSnapshotsBelongToTheirRequest) {
    SnapshotRounds rounds(2);
    const uint32_t first = rounds.begin(SnapshotPurpose::watch);
    EXPECT_FALSE(rounds.add(first, {rank_in(0, RankPhase::running)}));
    const uint32_t second = rounds.begin(SnapshotPurpose::report);
    EXPECT_FALSE(rounds.add(second, {rank_in(0, RankPhase::exited)}));
    const auto watch = rounds.add(first, {rank_in(1, RankPhase::running)});
    ASSERT_TRUE(watch && watch->ranks.size() == 2);
    EXPECT_EQ(watch->purpose, SnapshotPurpose::watch);
    EXPECT_EQ(watch->ranks[0].phase, RankPhase::running);
    EXPECT_EQ(watch->ranks[1].rank, 1);
    EXPECT_FALSE(rounds.add(first, {rank_in(1, RankPhase::running)})); // it is complete
    EXPECT_TRUE(rounds.add(second, {rank_in(1, RankPhase::running)}));
}

} // namespace
