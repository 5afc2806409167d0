// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// shm.poll_mode=expected under every protocol: expected messages are counted exactly while they are expected,
// and messages that are not counted are still received when needed.
#include "proto/p2p/expected_peers.hpp"
#include "proto/p2p/test_engine_pair.hpp"
#include "transport/shm/test_ranks.hpp"

namespace zipmpi::proto {
namespace {

using transport::shm::ring_polls;
using transport::shm::ScopedParam;
using transport::shm::ScopedPollMode;

// Rings that this engine polls in an idle progress call.
uint64_t rings_polled_per_round(ProgressEngine& engine) {
    const uint64_t before = ring_polls(engine.shm());
    EXPECT_EQ(engine.progress(), 0);
    return ring_polls(engine.shm()) - before;
}

struct Expected : ::testing::Test {
    ScopedPollMode poll_mode{"expected"};
    EnginePair p{true};
    Expected() { // one message in each direction first
        for (int r = 0; r < 2; ++r) {
            Operation send = make_send(p.teams[r], nullptr, 0, 1 - r, 1);
            Operation recv = make_recv(p.teams[1 - r], nullptr, 0, r, 1);
            p.engines[1 - r]->start_recv(recv);
            p.engines[r]->start_send(send);
            p.progress_until_idle();
            EXPECT_TRUE(send.done() && recv.done());
        }
        expect_nothing_polled();
    }
    void expect_nothing_polled() {
        for (const auto& engine : p.engines)
            EXPECT_EQ(rings_polled_per_round(*engine), 0U) << "nothing is expected";
    }
};

struct Case {
    size_t bytes;
    bool synchronous;
    bool recv_first;
    int source;
};

void run(EnginePair& p, const Case& c) {
    const std::vector<char> data(c.bytes, 'x');
    std::vector<char> in(c.bytes);
    Operation send = make_send(p.teams[0], data.data(), c.bytes, 1, 5);
    send.synchronous = c.synchronous;
    Operation recv = make_recv(p.teams[1], in.data(), c.bytes, c.source, 5);
    if (c.recv_first) {
        p.engines[1]->start_recv(recv);
        EXPECT_EQ(rings_polled_per_round(*p.engines[1]), 1U);
    }
    p.engines[0]->start_send(send);
    if (!send.done()) {
        EXPECT_EQ(rings_polled_per_round(*p.engines[0]), 1U) << "a reply is expected";
    }
    if (!c.recv_first) {
        EXPECT_EQ(rings_polled_per_round(*p.engines[1]), 0U) << "the message stays in the ring";
        p.engines[1]->start_recv(recv);
    }
    p.progress_until_idle();
    EXPECT_TRUE(send.done() && recv.done() && in == data)
        << c.bytes << " bytes, synchronous: " << c.synchronous << ", receive first: " << c.recv_first;
}

TEST_F(Expected, EveryProtocolCountsExpectedMessages) {
    for (const size_t bytes : {0, 8, 200, 4000, 20000, 100000, 1000000})
        for (const bool synchronous : {false, true})
            for (const bool recv_first : {false, true})
                for (const int source : {0, any_source}) {
                    run(p, {bytes, synchronous, recv_first, source});
                    expect_nothing_polled();
                }
}

TEST_F(Expected, FragmentsWithoutCma) {
    const ScopedParam in_fragments("cma.enable", "no");
    EnginePair fragment_pair;
    for (const size_t bytes : {8, 100000, 1000000})
        for (int i = 0; i < 3; ++i) { // the first round includes the first messages of the pair
            const std::vector<char> data(bytes, 'y');
            std::vector<char> in(bytes);
            Operation send = make_send(fragment_pair.teams[0], data.data(), bytes, 1, 5);
            Operation recv = make_recv(fragment_pair.teams[1], in.data(), bytes, 0, 5);
            fragment_pair.engines[0]->start_send(send);
            fragment_pair.engines[1]->start_recv(recv);
            fragment_pair.progress_until_idle();
            EXPECT_TRUE(send.done() && recv.done() && in == data);
            for (const auto& engine : fragment_pair.engines) EXPECT_EQ(rings_polled_per_round(*engine), 0U);
        }
}

TEST_F(Expected, CancelledReceiveIsNotCounted) {
    for (const int source : {0, any_source}) {
        int value = 0;
        Operation recv = make_recv(p.teams[1], &value, sizeof value, source, 5);
        p.engines[1]->start_recv(recv);
        EXPECT_EQ(rings_polled_per_round(*p.engines[1]), 1U);
        p.engines[1]->cancel(recv);
        expect_nothing_polled();
        recv.reset();
        p.engines[1]->start_recv(recv);
        p.engines[1]->abandon_recv(recv);
        expect_nothing_polled();
    }
}

TEST_F(Expected, AbandonedReceiveIsNotCounted) {
    const std::vector<char> data(3000000, 'z');
    std::vector<char> in(data.size());
    const ScopedParam in_fragments("cma.enable", "no");
    EnginePair fragment_pair;
    Operation send = make_send(fragment_pair.teams[0], data.data(), data.size(), 1, 5);
    Operation recv = make_recv(fragment_pair.teams[1], in.data(), data.size(), 0, 5);
    fragment_pair.engines[1]->start_recv(recv);
    fragment_pair.engines[0]->start_send(send);
    fragment_pair.engines[1]->progress();
    fragment_pair.engines[0]->progress();
    fragment_pair.engines[1]->progress();
    ASSERT_FALSE(recv.done());
    EXPECT_GT(recv.transferred, 0U);
    fragment_pair.engines[1]->abandon_recv(recv);
    fragment_pair.progress_until_idle();
    EXPECT_TRUE(send.done()) << "its fragments are read and dropped, so that the cells are returned";
    for (const auto& engine : fragment_pair.engines) EXPECT_EQ(rings_polled_per_round(*engine), 0U);
}

TEST_F(Expected, CancelIsReadWithoutBeingExpected) {
    for (const size_t bytes : {8, 4000, 100000}) {
        const std::vector<char> data(bytes, 'a');
        Operation op = make_send(p.teams[0], data.data(), bytes, 1, 5);
        op.synchronous = true;
        p.engines[0]->start_send(op);
        p.progress_until_idle();
        p.engines[0]->cancel(op);
        EXPECT_FALSE(op.done());
        p.progress_until_idle();
        EXPECT_TRUE(op.done() && op.cancelled) << bytes;
        expect_nothing_polled();
    }
}

TEST_F(Expected, ProbeReadsTheRingOfItsSource) {
    for (const int source : {0, any_source}) {
        const int value = 5;
        Operation send = make_send(p.teams[0], &value, sizeof value, 1, 5);
        p.engines[0]->start_send(send);
        ProgressEngine& engine = *p.engines[1];
        engine.progress();
        EXPECT_EQ(engine.probe(2, source, 5), nullptr);
        {
            const ExpectedProbe expecting(engine.shm(), source, source);
            engine.progress();
        }
        EXPECT_NE(engine.probe(2, source, 5), nullptr);
        UnexpectedMessage* const taken = engine.extract(2, source, 5);
        ASSERT_NE(taken, nullptr);
        int got = 0;
        Operation recv = make_recv(p.teams[1], &got, sizeof got, 0, 5);
        engine.recv_extracted(recv, *taken);
        EXPECT_EQ(got, 5);
        expect_nothing_polled();
    }
}

// The context may be reused by another communicator, which must not receive old messages.
TEST_F(Expected, MessagesOfFreedCommunicatorAreDropped) {
    const int value = 5;
    int got = 0;
    Operation stale = make_send(p.teams[0], &value, sizeof value, 1, 5);
    p.engines[0]->start_send(stale);
    p.engines[1]->drop_unexpected(p.teams[0].context);
    Operation recv = make_recv(p.teams[1], &got, sizeof got, 0, 5);
    p.engines[1]->start_recv(recv);
    p.progress_until_idle();
    EXPECT_FALSE(recv.done());
    p.engines[1]->cancel(recv);
    expect_nothing_polled();
}

TEST_F(Expected, MessageToSelfPollsNoRing) {
    const int value = 5;
    int got = 0;
    Operation send = make_send(p.teams[0], &value, sizeof value, 0, 5);
    Operation recv = make_recv(p.teams[0], &got, sizeof got, 0, 5);
    p.engines[0]->start_recv(recv);
    EXPECT_EQ(rings_polled_per_round(*p.engines[0]), 0U);
    p.engines[0]->start_send(send);
    EXPECT_EQ(got, 5);
    expect_nothing_polled();
}

// More messages than the ring and the sender's cells hold, before the first receive.
TEST_F(Expected, UnexpectedFloodIsStored) {
    for (const size_t bytes : {8, 2000}) { // in slots, in cells
        const std::vector<char> data(bytes, 'f');
        std::vector<Operation> ops(1000);
        for (Operation& op : ops) {
            op = make_send(p.teams[0], data.data(), bytes, 1, 5);
            p.engines[0]->start_send(op);
        }
        EXPECT_FALSE(ops.back().done());
        p.progress_until_idle();
        EXPECT_TRUE(ops.back().done());
        for (size_t i = 0; i < ops.size(); ++i) {
            std::vector<char> in(bytes);
            Operation recv = make_recv(p.teams[1], in.data(), bytes, 0, 5);
            p.engines[1]->start_recv(recv);
            p.progress_until_idle();
            ASSERT_TRUE(recv.done() && in == data) << i;
        }
        expect_nothing_polled();
    }
}

} // namespace
} // namespace zipmpi::proto
