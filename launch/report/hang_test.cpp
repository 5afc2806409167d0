// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Canned situations: each must name the right ranks.
#include "launch/report/hang.hpp"
#include "launch/report/hang_watch.hpp"
#include "launch/report/wording.hpp"

#include <gtest/gtest.h>

using namespace zipmpi;
using namespace zipmpi::launch;

namespace {

constexpr const char* world = "MPI_COMM_WORLD";

RankPlace at(int rank, Life life) {
    RankPlace p;
    p.rank = rank;
    p.life = life;
    return p;
}

RankPlace waits(int rank, const char* function, WaitPlace wait) {
    RankPlace p = at(rank, Life::running);
    p.asleep = true;
    p.function = function;
    p.wait_count = 1;
    p.waits = {std::move(wait)};
    return p;
}

RankPlace recv(int rank, int from, int tag, const char* comm = world) {
    return waits(rank, "MPI_Recv", {WaitKind::recv, from, tag, comm, 0, 8});
}

RankPlace send(int rank, int to, int tag, const char* comm = world) {
    return waits(rank, "MPI_Send", {WaitKind::send, to, tag, comm, 0, 1 << 20});
}

RankPlace collective(int rank, const char* function, uint32_t number, int root = recorder_none,
                     const char* comm = world) {
    RankPlace p =
        waits(rank, function, {WaitKind::collective, recorder_none, recorder_none, comm, number, 8});
    p.peer = root;
    return p;
}

RankPlace ended(int rank, const char* how) {
    RankPlace p = at(rank, Life::gone);
    p.end = how;
    return p;
}

#define EXPECT_SAYS(snapshot, text)                                                                          \
    EXPECT_NE(hang_report(snapshot).find(text), std::string::npos) << hang_report(snapshot)

TEST(Hang, MissingCollective) {
    const Snapshot s = {collective(0, "MPI_Allreduce", 512), recv(1, 3, 7),
                        collective(2, "MPI_Allreduce", 512), collective(3, "MPI_Allreduce", 512)};
    EXPECT_SAYS(s, "rank 1 is the odd one out");
    EXPECT_SAYS(s, "while ranks 0,2-3 wait in MPI_Allreduce");
    EXPECT_SAYS(s, "ranks 0,2-3: wait in MPI_Allreduce (the 512th collective on MPI_COMM_WORLD)");
    EXPECT_SAYS(s, "rank 1: waits in MPI_Recv for a message from rank 3, tag 7 on MPI_COMM_WORLD");
}

TEST(Hang, DifferentFunctions) {
    const Snapshot s = {collective(0, "MPI_Bcast", 5, 0), collective(1, "MPI_Barrier", 5),
                        collective(2, "MPI_Bcast", 5, 0)};
    EXPECT_SAYS(s, "different functions as the 5th collective on MPI_COMM_WORLD");
    EXPECT_SAYS(s, "rank 1 is in MPI_Barrier");
    EXPECT_SAYS(s, "ranks 0,2 are in MPI_Bcast");
}

TEST(Hang, WrongRoot) {
    const Snapshot s = {collective(0, "MPI_Reduce", 3, 0), collective(1, "MPI_Reduce", 3, 1),
                        collective(2, "MPI_Reduce", 3, 0)};
    EXPECT_SAYS(s, "different roots in the 3rd collective");
    EXPECT_SAYS(s, "rank 1 is in MPI_Reduce with root 1");
}

TEST(Hang, OneRankAhead) {
    const Snapshot s = {collective(0, "MPI_Barrier", 8), collective(1, "MPI_Barrier", 9)};
    EXPECT_SAYS(s, "some ranks are ahead");
    EXPECT_SAYS(s, "rank 1 is in the 9th collective on MPI_COMM_WORLD");
}

TEST(Hang, SendSendCycle) {
    const Snapshot s = {send(0, 1, 1), send(1, 0, 1)};
    EXPECT_SAYS(s, "a circle of waiting: 0 \u2192 1 \u2192 0; all of them send");
}

TEST(Hang, RecvRecvCycle) {
    const Snapshot s = {recv(0, 1, 1), recv(1, 0, 1), at(2, Life::finalized)};
    EXPECT_SAYS(s, "a circle of waiting: 0 \u2192 1 \u2192 0");
    EXPECT_EQ(hang_report(s).find("all of them send"), std::string::npos);
}

TEST(Hang, WrongTag) {
    const Snapshot s = {recv(0, 1, 7), send(1, 0, 8)};
    EXPECT_SAYS(s, "rank 0 wants tag 7, but rank 1 sends it tag 8");
}

TEST(Hang, WrongCommunicatorOfAMessage) {
    const Snapshot s = {recv(0, 1, 7, "rows"), send(1, 0, 7, world)};
    EXPECT_SAYS(s, "rank 0 wants a message on rows, but rank 1 sends it one on MPI_COMM_WORLD");
}

TEST(Hang, MessageWithAnotherTagHasCome) {
    Snapshot s = {recv(0, 1, 7), collective(1, "MPI_Barrier", 1)};
    s[0].stray = {1, 8, world};
    EXPECT_SAYS(
        s, "mpiexec: rank 0 wants tag 7 from rank 1, but the message from rank 1 that has come has tag 8");
    s[0].stray = {1, 7, "rows"};
    EXPECT_SAYS(s,
                "a message from rank 1 on MPI_COMM_WORLD, but the one from rank 1 that has come is on rows");
    s[0] = recv(0, recorder_any, 7);
    s[0].stray = {1, 8, world};
    EXPECT_SAYS(s, "rank 0 wants tag 7 from any rank, but the message from rank 1 that has come has tag 8");
}

TEST(Hang, PeerHasFinalized) {
    const Snapshot s = {recv(0, 1, 7), at(1, Life::finalized)};
    EXPECT_SAYS(s, "rank 0 waits for rank 1, which has called MPI_Finalize");
}

TEST(Hang, PeerIsDead) {
    const Snapshot s = {recv(0, 2, 7), recv(1, 2, 7), ended(2, "killed by SIGSEGV")};
    EXPECT_SAYS(s, "ranks 0-1 wait for rank 2, which has ended (killed by SIGSEGV)");
}

TEST(Hang, ThreeCycle) {
    const Snapshot s = {recv(0, 1, 1), recv(1, 2, 1), recv(2, 0, 1), recv(3, 0, 1)};
    EXPECT_SAYS(s, "a circle of waiting: 0 \u2192 1 \u2192 2 \u2192 0");
}

TEST(Hang, OneRankComputes) {
    const Snapshot s = {collective(0, "MPI_Barrier", 2), at(1, Life::running),
                        collective(2, "MPI_Barrier", 2)};
    EXPECT_SAYS(s, "ranks 0,2 wait for rank 1, which is in the program's own code, outside MPI");
}

TEST(Hang, OneRankNeverCameToInit) {
    const Snapshot s = {collective(0, "MPI_Barrier", 1), at(1, Life::no_mpi)};
    EXPECT_SAYS(s, "rank 0 waits for rank 1, which has not called MPI_Init");
}

TEST(Hang, DifferentCommunicators) {
    const Snapshot s = {collective(0, "MPI_Barrier", 2),
                        collective(1, "MPI_Barrier", 1, recorder_none, "rows")};
    EXPECT_SAYS(s, "collectives on different communicators");
    EXPECT_SAYS(s, "rank 1 is in MPI_Barrier on rows");
}

TEST(Hang, WildcardNobodySendsTo) {
    const Snapshot s = {recv(0, recorder_any, recorder_any), at(1, Life::finalized), at(2, Life::finalized)};
    EXPECT_SAYS(s, "rank 0 waits for a message from any rank, and nobody sends one");
    EXPECT_SAYS(s, "from any rank, any tag");
}

TEST(Hang, BarrierAgainstRecv) {
    const Snapshot s = {collective(0, "MPI_Barrier", 4), recv(1, 0, 9)};
    EXPECT_SAYS(s, "rank 1 is the odd one out: it waits in MPI_Recv for a message from rank 0, tag 9");
    EXPECT_SAYS(s, "while rank 0 waits in MPI_Barrier");
}

TEST(Hang, FewInACollectiveAreTheOddOnes) {
    const Snapshot s = {recv(0, 2, 6), recv(1, 2, 6), collective(2, "MPI_Barrier", 2)};
    EXPECT_SAYS(s, "rank 2 is the odd one out: it waits in MPI_Barrier");
    EXPECT_SAYS(s, "while ranks 0-1 wait in MPI_Recv");
}

TEST(Hang, MissingCollectiveOnAnotherCommunicator) {
    Snapshot s = {collective(0, "MPI_Barrier", 1, recorder_none, "rows"), recv(1, 3, 7), recv(3, 1, 7)};
    s[0].waits[0].world_peer = 1; // whom it waits for inside the collective
    s[1] = recv(1, recorder_any, 7);
    s[2] = collective(3, "MPI_Barrier", 1, recorder_none, "rows");
    EXPECT_SAYS(s, "rank 1 is the odd one out");
}

TEST(Hang, TheMistakeIsWithThoseBehind) { // rank 2 has passed the wrong broadcast already
    const Snapshot s = {collective(0, "MPI_Bcast", 3, 0), collective(1, "MPI_Bcast", 3, 1),
                        collective(2, "MPI_Barrier", 4)};
    EXPECT_SAYS(s, "different roots in the 3rd collective");
}

TEST(Hang, FirstLineIsTheVerdictLastLineTheRemedy) {
    const Snapshot s = {recv(0, 1, 1), recv(1, 0, 1)};
    const std::string text = hang_report(s, 2.5);
    EXPECT_EQ(text.rfind("mpiexec: nothing has moved for 2.5 s: a circle of waiting", 0), 0U) << text;
    EXPECT_NE(text.find("\n  do: "), std::string::npos) << text;
    EXPECT_EQ(text.back(), '\n');
}

RankPlace agreement(int rank, const char* comm = world) {
    return waits(rank, "MPIX_Comm_agree", {WaitKind::other, recorder_none, recorder_none, comm, 0, 0});
}

TEST(Hang, AgreementIsNoMessage) {
    const Snapshot s = {agreement(0), agreement(1), recv(2, 0, 7)};
    EXPECT_SAYS(s, "rank 2 is the odd one out: it waits in MPI_Recv for a message from rank 0, tag 7");
    EXPECT_SAYS(s, "while ranks 0-1 wait in MPIX_Comm_agree");
    EXPECT_SAYS(s, "ranks 0-1: wait in MPIX_Comm_agree for the other ranks on MPI_COMM_WORLD");
    EXPECT_EQ(hang_report(s).find("a circle"), std::string::npos) << hang_report(s);
    EXPECT_EQ(hang_report(s).find("MPI_Sendrecv"), std::string::npos) << hang_report(s);
    const Snapshot finalized = {agreement(0), at(1, Life::finalized)};
    EXPECT_SAYS(finalized, "rank 0 waits for rank 1, which has called MPI_Finalize");
    EXPECT_SAYS((Snapshot{agreement(0), agreement(1), collective(2, "MPI_Barrier", 3)}),
                "rank 2 is the odd one out: it waits in MPI_Barrier");
    EXPECT_SAYS((Snapshot{agreement(0), at(1, Life::running), at(2, Life::running)}),
                "rank 0 waits for ranks 1-2, which are in the program's own code, outside MPI");
}

TEST(Hang, SeveralRanksAreSeveral) {
    RankPlace busy[2] = {at(1, Life::running), at(2, Life::running)};
    for (RankPlace& p : busy) p.function = "MPI_Test";
    const Snapshot s = {at(0, Life::running),
                        busy[0],
                        busy[1],
                        at(3, Life::running),
                        ended(4, "killed"),
                        ended(5, "killed"),
                        at(6, Life::no_mpi),
                        at(7, Life::no_mpi)};
    EXPECT_SAYS(s, "ranks 0,3: are in the program's own code");
    EXPECT_SAYS(s, "ranks 1-2: are in MPI_Test, working");
    EXPECT_SAYS(s, "ranks 4-5: have ended (killed)");
    EXPECT_SAYS(s, "ranks 6-7: have not called MPI_Init");
}

TEST(Hang, NothingIsStuck) {
    RankPlace busy = at(1, Life::running);
    busy.function = "MPI_Init";
    EXPECT_SAYS((Snapshot{at(0, Life::no_mpi), busy}), "no rank waits inside MPI");
    EXPECT_SAYS((Snapshot{}), "no rank waits inside MPI");
}

TEST(Hang, ManyPendingOperationsAreCounted) {
    RankPlace p = recv(0, 1, 1);
    p.function = "MPI_Waitall";
    p.waits.assign(6, p.waits[0]);
    p.wait_count = 100;
    EXPECT_SAYS((Snapshot{p, at(1, Life::running)}), "and 96 more");
}

TEST(HangWatch, SpeaksOncePerHang) {
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

TEST(HangWatch, WorkIsNoHang) {
    HangWatch w(1.0);
    constexpr uint64_t s = 1'000'000'000;
    const Snapshot busy = {recv(0, 1, 1), at(1, Life::running)};
    for (uint64_t t = 1; t < 9; ++t) EXPECT_FALSE(w.feed(busy, t * s));
    RankPlace beside = at(0, Life::running); // a thread of the library sleeps, not the program
    beside.asleep = true;
    HangWatch outside(1.0);
    for (uint64_t t = 1; t < 9; ++t) EXPECT_FALSE(outside.feed({beside}, t * s));
    HangWatch without_mpi(1.0);
    for (uint64_t t = 1; t < 9; ++t) EXPECT_FALSE(without_mpi.feed({at(0, Life::no_mpi)}, t * s));
}

TEST(Wording, RankLists) {
    EXPECT_EQ(rank_list({0, 2, 3, 4, 9}), "0,2-4,9");
    EXPECT_EQ(ordinal(1), "1st");
    EXPECT_EQ(ordinal(12), "12th");
    EXPECT_EQ(ordinal(103), "103rd");
}

} // namespace
