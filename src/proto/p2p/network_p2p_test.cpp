// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A progress engine with a network driven by the test: events between hosts in any order.
#include "proto/p2p/progress_engine.hpp"
#include "proto/progress/wait.hpp"
#include "proto/team.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <vector>

namespace zipmpi::proto {
namespace {

using transport::BufferRef;
using transport::IncomingBulk;
using transport::OpStatus;
using transport::PostStatus;

class TestNetwork : public transport::Network {
  public:
    [[nodiscard]] const std::string& address() const override { return address_; }
    int connect_to(int) override { return 0; }
    [[nodiscard]] int rank_of(transport::Peer) const override { return 1; }
    void fail_peer(int) override { peer_failed = true; }
    PostStatus send(transport::Peer, const wire::Envelope& e, const std::byte*, const BufferRef&) override {
        sent_envelopes.push_back(e);
        return eager_status;
    }
    PostStatus send_rendezvous(transport::Peer, const wire::Envelope&, const std::byte* payload,
                               const BufferRef&) override {
        std::memcpy(&rts_id, payload, sizeof rts_id);
        return PostStatus::in_flight;
    }
    void fetch(IncomingBulk&, const BufferRef&) override {}
    void drop(IncomingBulk&) override {}
    int progress() override {
        if (++polls == polls_until_idle) is_idle = true;
        return 0;
    }
    [[nodiscard]] int descriptor() const override { return -1; }
    bool arm() override {
        if (polls_until_idle == by_arm) is_idle = true;
        return true;
    }
    [[nodiscard]] bool idle() const override { return is_idle; }
    [[nodiscard]] uint64_t rejected_messages() const override { return 0; }

    std::vector<wire::Envelope> sent_envelopes;
    wire::Ack rts_id{}; // of the last long message
    PostStatus eager_status = PostStatus::done;
    bool peer_failed = false;
    static constexpr uint64_t by_arm = UINT64_MAX;
    bool is_idle = true;
    uint64_t polls = 0, polls_until_idle = by_arm; // becomes idle in this poll, or in arm()

  private:
    std::string address_;
};

// This process is rank 0, alone on its host; rank 1 is on another host.
struct Host {
    segment::NodeSegment segment;
    std::unique_ptr<ProgressEngine> engine;
    TestNetwork* network = new TestNetwork;
    transport::NetworkListener* events = nullptr;
    Team team;
    Host() {
        Diagnostic why;
        segment::NodeTable nodes;
        nodes.node_of = {0, 1};
        nodes.count = 2;
        EXPECT_TRUE(segment::NodeSegment::make("test", {0}, 2, segment, why, &nodes)) << format(why);
        engine = std::make_unique<ProgressEngine>(segment, 0, 0);
        engine->network_port().use(std::unique_ptr<transport::Network>(network));
        events = &engine->network_events();
        team = Team{engine.get(), 2, 0, 2, RankMap(0), 0};
    }
    void reply(wire::MessageKind kind, int info = 0) {
        deliver(kind, info, wire::Cancel{network->rts_id.sender, team.context});
    }
    void acknowledge(const wire::Ack& ack) { deliver(wire::MessageKind::ack, 0, ack); }
    void request(wire::HoldEager what) { deliver(wire::MessageKind::hold_eager, 0, what); }

  private:
    template <class T>
    void deliver(wire::MessageKind kind, int info, const T& content) {
        const wire::Envelope e{kind, 0, sizeof content, 0, 0, 0, info, 0};
        std::byte payload[wire::inline_max];
        std::memcpy(payload, &content, sizeof content);
        events->message_arrived({0, e, payload, nullptr, 0});
    }
};

constexpr int too_late = 1;

// While the receiver asks to hold eager messages, a send completes when it is matched, and data stays here.
TEST(NetworkP2p, HeldSendsWaitForTheirReceive) {
    Host h;
    const std::vector<char> data(1000, 'a');
    Operation first = make_send(h.team, data.data(), 8, 1, 5);
    h.engine->start_send(first); // connects
    ASSERT_TRUE(first.done());
    h.request({1});
    h.request({1}); // a second one has no effect
    Operation small = make_send(h.team, data.data(), 8, 1, 5);
    Operation larger = make_send(h.team, data.data(), data.size(), 1, 5);
    h.engine->start_send(small);
    h.engine->start_send(larger);
    h.engine->progress_all();
    ASSERT_EQ(h.network->sent_envelopes.size(), 2U);
    EXPECT_EQ(h.network->sent_envelopes[1].flags, wire::flag_synchronous);
    EXPECT_FALSE(small.done());
    EXPECT_FALSE(larger.done());
    EXPECT_NE(h.network->rts_id.sender, 0U);
    h.acknowledge({h.network->sent_envelopes[1].sync_id});
    EXPECT_TRUE(small.done());
    h.events->send_finished(&larger, OpStatus::done);
    EXPECT_TRUE(larger.done());
    h.request({0});
    Operation last = make_send(h.team, data.data(), data.size(), 1, 5);
    h.engine->start_send(last);
    EXPECT_TRUE(last.done());
}

// Otherwise a rank that only sends would not see that the receiver asks to hold.
TEST(NetworkP2p, FloodingSenderPolls) {
    Host h;
    const std::vector<char> data(64 << 10, 'a');
    bool waited = false;
    for (int i = 0; i < 1000 && !waited; ++i) {
        Operation op = make_send(h.team, data.data(), data.size(), 1, 5);
        h.engine->start_send(op);
        waited = !op.done();
        if (waited) h.engine->progress_all();
        EXPECT_TRUE(op.done());
    }
    EXPECT_TRUE(waited);
}

// The network completes a long send identically whether it was received or dropped, before or after the
// receiver's reply: only the reply decides.
TEST(NetworkP2p, CancelledLongSendWaitsForTheReply) {
    for (const bool dropped : {true, false})
        for (const bool network_first : {true, false}) {
            Host h;
            const std::vector<char> data(1 << 20, 'a');
            Operation op = make_send(h.team, data.data(), data.size(), 1, 5);
            h.engine->start_send(op);
            h.engine->cancel(op);
            h.engine->cancel(op); // a second call has no effect
            ASSERT_EQ(h.network->sent_envelopes.size(), 1U);
            EXPECT_EQ(h.network->sent_envelopes[0].kind, wire::MessageKind::cancel);
            if (network_first) h.events->send_finished(&op, OpStatus::done);
            EXPECT_FALSE(op.done());
            h.reply(wire::MessageKind::cancelled, dropped ? 0 : too_late);
            if (!network_first) {
                EXPECT_FALSE(op.done());
                h.events->send_finished(&op, OpStatus::done);
            }
            EXPECT_TRUE(op.done());
            EXPECT_EQ(op.cancelled, dropped);
        }
}

// The network still reads the buffer: no reply of the receiver may complete the send.
TEST(NetworkP2p, UnsolicitedRepliesDoNotCompleteLongSend) {
    for (const bool canceled : {false, true}) {
        Host h;
        const std::vector<char> data(1 << 20, 'a');
        Operation op = make_send(h.team, data.data(), data.size(), 1, 5);
        h.engine->start_send(op);
        if (canceled) h.engine->cancel(op);
        for (int i = 0; i < 2; ++i) {
            h.reply(wire::MessageKind::cancelled);
            h.acknowledge(h.network->rts_id);
            ASSERT_FALSE(op.done()) << canceled;
        }
        h.events->send_finished(&op, OpStatus::done);
        EXPECT_TRUE(op.done());
        EXPECT_EQ(op.cancelled, canceled);
    }
}

// Also an eager synchronous send: one reply counts, be it `cancelled` or the ack.
TEST(NetworkP2p, SynchronousSendCountsOneReply) {
    for (const bool cancelled_first : {false, true}) {
        Host h;
        h.network->eager_status = PostStatus::in_flight;
        const std::vector<char> data(100, 'a');
        Operation op = make_send(h.team, data.data(), data.size(), 1, 5);
        op.synchronous = true;
        h.engine->start_send(op);
        h.network->rts_id.sender = h.network->sent_envelopes.at(0).sync_id;
        h.engine->cancel(op);
        if (cancelled_first) h.reply(wire::MessageKind::cancelled);
        h.acknowledge(h.network->rts_id);
        h.reply(wire::MessageKind::cancelled);
        ASSERT_FALSE(op.done()) << cancelled_first;
        h.events->send_finished(&op, OpStatus::done);
        EXPECT_TRUE(op.done());
        EXPECT_EQ(op.cancelled, cancelled_first);
    }
}

// The receiver has answered the cancellation and fails: the network ends the send, nothing before it.
TEST(NetworkP2p, AnsweredCancellationLeavesFailureToTheNetwork) {
    Host h;
    const std::vector<char> data(1 << 20, 'a');
    Operation op = make_send(h.team, data.data(), data.size(), 1, 5);
    h.engine->start_send(op);
    h.engine->cancel(op);
    h.reply(wire::MessageKind::cancelled);
    h.segment.faults().publish_failed(1);
    h.segment.faults().notify();
    h.engine->faults().poll();
    EXPECT_FALSE(op.done());
    h.events->send_finished(&op, OpStatus::failed);
    EXPECT_TRUE(op.done());
}

TEST(NetworkP2p, CancelOfMatchedMessageIsAnswered) {
    Host h;
    h.reply(wire::MessageKind::cancel); // dropped: 0 is not a valid operation id
    EXPECT_TRUE(h.network->sent_envelopes.empty());
    h.network->rts_id.sender = 77;
    h.reply(wire::MessageKind::cancel);
    ASSERT_EQ(h.network->sent_envelopes.size(), 1U);
    EXPECT_EQ(h.network->sent_envelopes[0].kind, wire::MessageKind::cancelled);
    EXPECT_EQ(h.network->sent_envelopes[0].tag, too_late);
}

TEST(NetworkP2p, OperationsWithFailedRankFail) {
    Host h;
    const std::vector<char> data(100, 'a');
    std::vector<char> in(100);
    Operation recv = make_recv(h.team, in.data(), in.size(), 1, 5);
    Operation sync = make_send(h.team, data.data(), data.size(), 1, 5);
    sync.synchronous = true;
    h.engine->start_recv(recv);
    h.engine->start_send(sync);
    EXPECT_EQ(h.engine->faults().poll(), 0);
    h.segment.faults().publish_failed(1);
    h.segment.faults().notify();
    EXPECT_EQ(h.engine->faults().poll(), 1 + 2);
    EXPECT_TRUE(h.network->peer_failed);
    EXPECT_TRUE(recv.done() && recv.error == Err::proc_failed);
    EXPECT_TRUE(sync.done() && sync.error == Err::proc_failed);
}

// A failure must keep a rank from sleeping even if it fails no operation: a collective in shared memory waits
// for flags, which a failed rank does not set.
TEST(NetworkP2p, FailureWithoutOperationIsAnEvent) {
    Host h;
    h.segment.faults().publish_failed(1);
    h.segment.faults().notify();
    EXPECT_EQ(h.engine->faults().poll(), 1);
    EXPECT_EQ(h.engine->faults().poll(), 0); // already processed
    h.segment.faults().publish_revoked(h.team.context);
    h.segment.faults().notify();
    EXPECT_EQ(h.engine->faults().poll(), 1);
}

// If the last poll of a rank, or arming its network, ends the wait, no wakeup follows: the rank must not
// sleep.
TEST(NetworkP2p, NoSleepAfterLastPollEndsTheWait) {
    uint64_t polls_before_sleep = TestNetwork::by_arm;
    for (const bool by_poll : {false, true}) {
        Host h;
        h.network->is_idle = false;
        h.network->polls_until_idle = polls_before_sleep;
        const uint64_t begin = os::now_ns();
        wait_until(
            *h.engine, [&] { return h.engine->drained(); }, wait_info_of(Operation{}));
        EXPECT_LT(os::now_ns() - begin, 500'000'000U) << by_poll;
        EXPECT_EQ(h.segment.block(0).counters.get(Counter::missed_wakeups), 0U) << by_poll;
        polls_before_sleep = h.network->polls;
    }
}

} // namespace
} // namespace zipmpi::proto
