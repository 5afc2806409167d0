// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Cancellation and matched probes, on two engines of one node segment driven by one thread.
#include "proto/p2p/test_engine_pair.hpp"

#include <vector>

namespace zipmpi::proto {
namespace {

constexpr size_t sizes[] = {8, 4000, 100000};

Operation send_op(EnginePair& p, const std::vector<char>& data, bool synchronous) {
    Operation op = make_send(p.teams[0], data.data(), data.size(), 1, 5);
    op.synchronous = synchronous;
    return op;
}

TEST(Cancel, UnmatchedSendIsCancelled) {
    EnginePair p;
    for (const size_t n : sizes) {
        const std::vector<char> data(n, 'a');
        Operation op = send_op(p, data, true);
        p.engines[0]->start_send(op);
        p.progress_until_idle();
        ASSERT_NE(p.engines[1]->probe(2, 0, 5), nullptr);
        p.engines[0]->cancel(op);
        EXPECT_FALSE(op.done()) << "the receiver decides";
        p.progress_until_idle();
        EXPECT_TRUE(op.done() && op.cancelled);
        EXPECT_EQ(p.engines[1]->probe(2, 0, 5), nullptr);
    }
}

TEST(Cancel, MatchedSendCompletes) {
    EnginePair p;
    for (const size_t n : sizes) {
        const std::vector<char> data(n, 'b');
        std::vector<char> in(n);
        Operation op = send_op(p, data, true);
        Operation recv = make_recv(p.teams[1], in.data(), n, 0, 5);
        p.engines[0]->start_send(op);
        p.engines[1]->progress();
        p.engines[1]->start_recv(recv); // the reply is in flight when the send is canceled
        p.engines[0]->cancel(op);
        p.progress_until_idle();
        EXPECT_TRUE(op.done() && !op.cancelled);
        EXPECT_TRUE(recv.done() && in == data);
    }
}

TEST(Cancel, ExtractedMessageIsNotCancelled) {
    EnginePair p;
    for (const size_t n : sizes) {
        const std::vector<char> data(n, 'c');
        std::vector<char> in(n);
        Operation op = send_op(p, data, true);
        p.engines[0]->start_send(op);
        p.progress_until_idle();
        UnexpectedMessage* taken = p.engines[1]->extract(2, any_source, any_tag);
        ASSERT_NE(taken, nullptr);
        EXPECT_EQ(p.engines[1]->probe(2, any_source, any_tag), nullptr);
        p.engines[0]->cancel(op);
        p.progress_until_idle();
        EXPECT_FALSE(op.done());
        Operation recv = make_recv(p.teams[1], in.data(), n, 0, 5);
        p.engines[1]->recv_extracted(recv, *taken);
        p.progress_until_idle();
        EXPECT_TRUE(op.done() && recv.done() && in == data && !op.cancelled);
    }
}

TEST(Cancel, QueuedSendIsNotSent) {
    EnginePair p;
    const std::vector<char> data(8, 'd');
    std::vector<Operation> ops(2000);
    for (Operation& op : ops) {
        op = send_op(p, data, false);
        p.engines[0]->start_send(op);
    }
    size_t queued = 0;
    while (queued < ops.size() && ops[queued].done()) ++queued;
    ASSERT_LT(queued + 1, ops.size()) << "the ring holds all messages: nothing is tested";
    p.engines[0]->cancel(ops[queued]);
    EXPECT_TRUE(ops[queued].cancelled);
    size_t received = 0;
    while (true) {
        p.progress_until_idle();
        UnexpectedMessage* taken = p.engines[1]->extract(2, 0, 5);
        if (taken == nullptr) break;
        char byte[8];
        Operation recv = make_recv(p.teams[1], byte, 8, 0, 5);
        p.engines[1]->recv_extracted(recv, *taken);
        ++received;
    }
    EXPECT_EQ(received, ops.size() - 1);
    EXPECT_TRUE(ops.back().done());
}

TEST(Cancel, CancelledReceiveCanBeRestarted) {
    EnginePair p;
    int value = 0;
    Operation recv = make_recv(p.teams[1], &value, sizeof value, any_source, any_tag);
    p.engines[1]->start_recv(recv);
    p.engines[1]->cancel(recv);
    EXPECT_TRUE(recv.done() && recv.cancelled);
    p.engines[1]->cancel(recv);
    recv.reset();
    EXPECT_FALSE(recv.done() || recv.cancelled);
    p.engines[1]->start_recv(recv);
    const std::vector<char> data(4, 'e');
    Operation op = send_op(p, data, false);
    p.engines[0]->start_send(op);
    p.progress_until_idle();
    EXPECT_TRUE(recv.done() && recv.matched_tag == 5 && !recv.cancelled);
}

TEST(Cancel, SendToSelf) {
    EnginePair p;
    const std::vector<char> data(100000, 'f');
    Operation op = make_send(p.teams[0], data.data(), data.size(), 0, 5);
    p.engines[0]->start_send(op);
    EXPECT_FALSE(op.done());
    p.engines[0]->cancel(op);
    EXPECT_TRUE(op.done() && op.cancelled);
    EXPECT_EQ(p.engines[0]->probe(2, 0, 5), nullptr);
}

TEST(Cancel, InvalidRequestsAreIgnored) {
    EnginePair p;
    const wire::Cancel w{0x12345678, 2};
    const wire::Envelope cancel{wire::MessageKind::cancel, 0, 0, 0, 0, 0, 0, 0};
    const wire::Envelope cancelled{wire::MessageKind::cancelled, 0, 0, 0, 0, 0, 0, 0};
    const auto* payload = reinterpret_cast<const std::byte*>(&w);
    EXPECT_EQ(p.engines[0]->shm().send_inline(1, cancel, payload, sizeof w), transport::SendStatus::ok);
    EXPECT_EQ(p.engines[0]->shm().send_inline(1, cancelled, payload, sizeof w), transport::SendStatus::ok);
    EXPECT_EQ(p.engines[0]->shm().send_inline(1, cancel, payload, 3), transport::SendStatus::ok);
    p.progress_until_idle();
}

} // namespace
} // namespace zipmpi::proto
