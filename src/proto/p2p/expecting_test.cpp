// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The design `expected` under every protocol: what is awaited is counted while it is awaited and no longer,
// and what nobody counts is still found by whoever needs it.
#include "proto/p2p/expecting.hpp"
#include "proto/p2p/test_pair.hpp"
#include "transport/shm/test_ranks.hpp"

namespace zipmpi::proto {
namespace {

using transport::shm::looks;
using transport::shm::WithKnob;
using transport::shm::WithQueues;

// Rings that this lane looks at in a round that brings nothing.
uint64_t rings_of_a_round(Lane& lane) {
    const uint64_t before = looks(lane.shm());
    EXPECT_EQ(lane.progress(), 0);
    return looks(lane.shm()) - before;
}

struct Expected : ::testing::Test {
    WithQueues queues{"expected"};
    Pair p{true};
    Expected() { // each has met the other
        for (int r = 0; r < 2; ++r) {
            Operation send = make_send(p.teams[r], nullptr, 0, 1 - r, 1);
            Operation recv = make_recv(p.teams[1 - r], nullptr, 0, r, 1);
            p.lanes[1 - r]->start_recv(recv);
            p.lanes[r]->start_send(send);
            p.settle();
            EXPECT_TRUE(send.done() && recv.done());
        }
        expect_silence();
    }
    void expect_silence() {
        for (const auto& lane : p.lanes) EXPECT_EQ(rings_of_a_round(*lane), 0U) << "nothing is expected";
    }
};

struct Case {
    size_t bytes;
    bool synchronous;
    bool recv_first;
    int source;
};

void run(Pair& p, const Case& c) {
    const std::vector<char> data(c.bytes, 'x');
    std::vector<char> in(c.bytes);
    Operation send = make_send(p.teams[0], data.data(), c.bytes, 1, 5);
    send.synchronous = c.synchronous;
    Operation recv = make_recv(p.teams[1], in.data(), c.bytes, c.source, 5);
    if (c.recv_first) {
        p.lanes[1]->start_recv(recv);
        EXPECT_EQ(rings_of_a_round(*p.lanes[1]), 1U);
    }
    p.lanes[0]->start_send(send);
    if (!send.done()) {
        EXPECT_EQ(rings_of_a_round(*p.lanes[0]), 1U) << "an answer is awaited";
    }
    if (!c.recv_first) {
        EXPECT_EQ(rings_of_a_round(*p.lanes[1]), 0U) << "the message lies there unread";
        p.lanes[1]->start_recv(recv);
    }
    p.settle();
    EXPECT_TRUE(send.done() && recv.done() && in == data)
        << c.bytes << " bytes, synchronous: " << c.synchronous << ", receive first: " << c.recv_first;
}

TEST_F(Expected, EveryProtocolCountsWhatItAwaits) {
    for (const size_t bytes : {0, 8, 200, 4000, 20000, 100000, 1000000})
        for (const bool synchronous : {false, true})
            for (const bool recv_first : {false, true})
                for (const int source : {0, any_source}) {
                    run(p, {bytes, synchronous, recv_first, source});
                    expect_silence();
                }
}

TEST_F(Expected, WithoutKernelCopiesToo) {
    const WithKnob in_fragments("kcopy.use", "no");
    Pair apart;
    for (const size_t bytes : {8, 100000, 1000000})
        for (int i = 0; i < 3; ++i) { // in the first round they meet
            const std::vector<char> data(bytes, 'y');
            std::vector<char> in(bytes);
            Operation send = make_send(apart.teams[0], data.data(), bytes, 1, 5);
            Operation recv = make_recv(apart.teams[1], in.data(), bytes, 0, 5);
            apart.lanes[0]->start_send(send);
            apart.lanes[1]->start_recv(recv);
            apart.settle();
            EXPECT_TRUE(send.done() && recv.done() && in == data);
            for (const auto& lane : apart.lanes) EXPECT_EQ(rings_of_a_round(*lane), 0U);
        }
}

TEST_F(Expected, AReceiveThatIsCancelledIsNotExpected) {
    for (const int source : {0, any_source}) {
        int value = 0;
        Operation recv = make_recv(p.teams[1], &value, sizeof value, source, 5);
        p.lanes[1]->start_recv(recv);
        EXPECT_EQ(rings_of_a_round(*p.lanes[1]), 1U);
        p.lanes[1]->cancel(recv);
        expect_silence();
        recv.reset();
        p.lanes[1]->start_recv(recv);
        p.lanes[1]->give_up_recv(recv);
        expect_silence();
    }
}

TEST_F(Expected, AReceiveThatIsGivenUpHalfwayIsNotExpected) {
    const std::vector<char> data(3000000, 'z');
    std::vector<char> in(data.size());
    const WithKnob in_fragments("kcopy.use", "no");
    Pair apart;
    Operation send = make_send(apart.teams[0], data.data(), data.size(), 1, 5);
    Operation recv = make_recv(apart.teams[1], in.data(), data.size(), 0, 5);
    apart.lanes[1]->start_recv(recv);
    apart.lanes[0]->start_send(send);
    apart.lanes[1]->progress();
    apart.lanes[0]->progress();
    apart.lanes[1]->progress();
    ASSERT_FALSE(recv.done());
    EXPECT_GT(recv.moved, 0U);
    apart.lanes[1]->give_up_recv(recv);
    apart.settle();
    EXPECT_TRUE(send.done()) << "its fragments are read and dropped: the cells are wanted back";
    for (const auto& lane : apart.lanes) EXPECT_EQ(rings_of_a_round(*lane), 0U);
}

TEST_F(Expected, AWithdrawalIsReadThoughNothingIsExpected) {
    for (const size_t bytes : {8, 4000, 100000}) {
        const std::vector<char> data(bytes, 'a');
        Operation op = make_send(p.teams[0], data.data(), bytes, 1, 5);
        op.synchronous = true;
        p.lanes[0]->start_send(op);
        p.settle();
        p.lanes[0]->cancel(op);
        EXPECT_FALSE(op.done());
        p.settle();
        EXPECT_TRUE(op.done() && op.cancelled) << bytes;
        expect_silence();
    }
}

TEST_F(Expected, AProbeReadsTheRingOfItsSource) {
    for (const int source : {0, any_source}) {
        const int value = 5;
        Operation send = make_send(p.teams[0], &value, sizeof value, 1, 5);
        p.lanes[0]->start_send(send);
        Lane& lane = *p.lanes[1];
        lane.progress();
        EXPECT_EQ(lane.probe(2, source, 5), nullptr);
        {
            const ExpectingProbe expecting(lane.shm(), source, source);
            lane.progress();
        }
        EXPECT_NE(lane.probe(2, source, 5), nullptr);
        Unexpected* const taken = lane.take(2, source, 5);
        ASSERT_NE(taken, nullptr);
        int got = 0;
        Operation recv = make_recv(p.teams[1], &got, sizeof got, 0, 5);
        lane.receive_taken(recv, *taken);
        EXPECT_EQ(got, 5);
        expect_silence();
    }
}

// Another communicator may get the context: it must not find messages of the last one.
TEST_F(Expected, MessagesOfAFreedCommunicatorAreDroppedUnread) {
    const int value = 5;
    int got = 0;
    Operation stale = make_send(p.teams[0], &value, sizeof value, 1, 5);
    p.lanes[0]->start_send(stale);
    p.lanes[1]->drop_messages(p.teams[0].context);
    Operation recv = make_recv(p.teams[1], &got, sizeof got, 0, 5);
    p.lanes[1]->start_recv(recv);
    p.settle();
    EXPECT_FALSE(recv.done());
    p.lanes[1]->cancel(recv);
    expect_silence();
}

TEST_F(Expected, AMessageToOneselfIsExpectedFromNobody) {
    const int value = 5;
    int got = 0;
    Operation send = make_send(p.teams[0], &value, sizeof value, 0, 5);
    Operation recv = make_recv(p.teams[0], &got, sizeof got, 0, 5);
    p.lanes[0]->start_recv(recv);
    EXPECT_EQ(rings_of_a_round(*p.lanes[0]), 0U);
    p.lanes[0]->start_send(send);
    EXPECT_EQ(got, 5);
    expect_silence();
}

// More messages than a ring and the cells of a sender hold, before the first is received.
TEST_F(Expected, AFloodThatNobodyExpectsIsTakenIn) {
    for (const size_t bytes : {8, 2000}) { // in lines, in cells
        const std::vector<char> data(bytes, 'f');
        std::vector<Operation> ops(1000);
        for (Operation& op : ops) {
            op = make_send(p.teams[0], data.data(), bytes, 1, 5);
            p.lanes[0]->start_send(op);
        }
        EXPECT_FALSE(ops.back().done());
        p.settle();
        EXPECT_TRUE(ops.back().done());
        for (size_t i = 0; i < ops.size(); ++i) {
            std::vector<char> in(bytes);
            Operation recv = make_recv(p.teams[1], in.data(), bytes, 0, 5);
            p.lanes[1]->start_recv(recv);
            p.settle();
            ASSERT_TRUE(recv.done() && in == data) << i;
        }
        expect_silence();
    }
}

} // namespace
} // namespace zipmpi::proto
