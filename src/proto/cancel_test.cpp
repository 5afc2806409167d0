// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Cancelled operations and messages taken out of matching, on two lanes of one segment driven by one thread.
#include "proto/p2p/test_pair.hpp"

#include <vector>

namespace zipmpi::proto {
namespace {

constexpr size_t sizes[] = {8, 4000, 100000};

Operation send_op(Pair& p, const std::vector<char>& data, bool synchronous) {
    Operation op = make_send(p.teams[0], data.data(), data.size(), 1, 5);
    op.synchronous = synchronous;
    return op;
}

TEST(Cancel, AnUnmatchedSendIsTakenBack) {
    Pair p;
    for (const size_t n : sizes) {
        const std::vector<char> data(n, 'a');
        Operation op = send_op(p, data, true);
        p.lanes[0]->start_send(op);
        p.settle();
        ASSERT_NE(p.lanes[1]->probe(2, 0, 5), nullptr);
        p.lanes[0]->cancel(op);
        EXPECT_FALSE(op.done()) << "the receiver decides";
        p.settle();
        EXPECT_TRUE(op.done() && op.cancelled);
        EXPECT_EQ(p.lanes[1]->probe(2, 0, 5), nullptr);
    }
}

TEST(Cancel, AMatchedSendGoesOn) {
    Pair p;
    for (const size_t n : sizes) {
        const std::vector<char> data(n, 'b');
        std::vector<char> in(n);
        Operation op = send_op(p, data, true);
        Operation recv = make_recv(p.teams[1], in.data(), n, 0, 5);
        p.lanes[0]->start_send(op);
        p.lanes[1]->progress();
        p.lanes[1]->start_recv(recv); // the answer is on its way when the send is cancelled
        p.lanes[0]->cancel(op);
        p.settle();
        EXPECT_TRUE(op.done() && !op.cancelled);
        EXPECT_TRUE(recv.done() && in == data);
    }
}

TEST(Cancel, AMessageThatWasTakenOutStaysOut) {
    Pair p;
    for (const size_t n : sizes) {
        const std::vector<char> data(n, 'c');
        std::vector<char> in(n);
        Operation op = send_op(p, data, true);
        p.lanes[0]->start_send(op);
        p.settle();
        Unexpected* taken = p.lanes[1]->take(2, any_source, any_tag);
        ASSERT_NE(taken, nullptr);
        EXPECT_EQ(p.lanes[1]->probe(2, any_source, any_tag), nullptr);
        p.lanes[0]->cancel(op);
        p.settle();
        EXPECT_FALSE(op.done());
        Operation recv = make_recv(p.teams[1], in.data(), n, 0, 5);
        p.lanes[1]->receive_taken(recv, *taken);
        p.settle();
        EXPECT_TRUE(op.done() && !op.cancelled && recv.done() && in == data);
    }
}

TEST(Cancel, ASendThatFoundTheRingFullNeverLeaves) {
    Pair p;
    const std::vector<char> data(8, 'd');
    std::vector<Operation> ops(2000);
    for (Operation& op : ops) {
        op = send_op(p, data, false);
        p.lanes[0]->start_send(op);
    }
    size_t waiting = 0;
    while (waiting < ops.size() && ops[waiting].done()) ++waiting;
    ASSERT_LT(waiting + 1, ops.size()) << "the ring takes all of them: nothing is tested";
    p.lanes[0]->cancel(ops[waiting]);
    EXPECT_TRUE(ops[waiting].cancelled);
    size_t received = 0;
    while (true) {
        p.settle();
        Unexpected* taken = p.lanes[1]->take(2, 0, 5);
        if (taken == nullptr) break;
        char byte[8];
        Operation recv = make_recv(p.teams[1], byte, 8, 0, 5);
        p.lanes[1]->receive_taken(recv, *taken);
        ++received;
    }
    EXPECT_EQ(received, ops.size() - 1);
    EXPECT_TRUE(ops.back().done());
}

TEST(Cancel, AReceiveIsCancelledOnce) {
    Pair p;
    int value = 0;
    Operation recv = make_recv(p.teams[1], &value, sizeof value, any_source, any_tag);
    p.lanes[1]->start_recv(recv);
    p.lanes[1]->cancel(recv);
    EXPECT_TRUE(recv.done() && recv.cancelled);
    p.lanes[1]->cancel(recv);
    recv.reset();
    EXPECT_FALSE(recv.done() || recv.cancelled);
    p.lanes[1]->start_recv(recv);
    const std::vector<char> data(4, 'e');
    Operation op = send_op(p, data, false);
    p.lanes[0]->start_send(op);
    p.settle();
    EXPECT_TRUE(recv.done() && !recv.cancelled && recv.matched_tag == 5);
}

TEST(Cancel, ASendToOneself) {
    Pair p;
    const std::vector<char> data(100000, 'f');
    Operation op = make_send(p.teams[0], data.data(), data.size(), 0, 5);
    p.lanes[0]->start_send(op);
    EXPECT_FALSE(op.done());
    p.lanes[0]->cancel(op);
    EXPECT_TRUE(op.done() && op.cancelled);
    EXPECT_EQ(p.lanes[0]->probe(2, 0, 5), nullptr);
}

TEST(Cancel, MadeUpRequestsAreIgnored) {
    Pair p;
    const wire::Withdraw w{0x12345678, 2};
    const wire::Envelope asks{wire::Kind::withdraw, 0, 0, 0, 0, 0, 0, 0};
    const wire::Envelope tells{wire::Kind::withdrawn, 0, 0, 0, 0, 0, 0, 0};
    const auto* payload = reinterpret_cast<const std::byte*>(&w);
    EXPECT_EQ(p.lanes[0]->shm().send_short(1, asks, payload, sizeof w), transport::Sent::ok);
    EXPECT_EQ(p.lanes[0]->shm().send_short(1, tells, payload, sizeof w), transport::Sent::ok);
    EXPECT_EQ(p.lanes[0]->shm().send_short(1, asks, payload, 3), transport::Sent::ok);
    p.settle();
}

} // namespace
} // namespace zipmpi::proto
