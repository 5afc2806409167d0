// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A lane with a network that the test drives: what happens between hosts, in any order.
#include "proto/p2p/lane.hpp"
#include "proto/progress/wait.hpp"
#include "proto/team.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <vector>

namespace zipmpi::proto {
namespace {

using transport::ucx::Arriving;
using transport::ucx::Memory;
using transport::ucx::Outcome;
using transport::ucx::Posted;

class TestNetwork : public transport::ucx::Network {
  public:
    [[nodiscard]] const std::string& address() const override { return address_; }
    int reach(int) override { return 0; }
    [[nodiscard]] int rank_of(transport::Peer) const override { return 1; }
    void give_up(int) override { forgotten = true; }
    Posted send(transport::Peer, const wire::Envelope& e, const std::byte*, const Memory&) override {
        lines.push_back(e);
        return Posted::done;
    }
    Posted send_long(transport::Peer, const wire::Envelope&, const std::byte* payload,
                     const Memory&) override {
        std::memcpy(&name, payload, sizeof name);
        return Posted::under_way;
    }
    void receive(Arriving&, const Memory&) override {}
    void drop(Arriving&) override {}
    int progress() override {
        if (++looks == looks_until_idle) is_idle = true;
        return 0;
    }
    [[nodiscard]] int descriptor() const override { return -1; }
    bool arm() override {
        if (looks_until_idle == by_arm) is_idle = true;
        return true;
    }
    [[nodiscard]] bool idle() const override { return is_idle; }
    [[nodiscard]] uint64_t strangers() const override { return 0; }

    std::vector<wire::Envelope> lines; // that were sent
    wire::Ack name{};                  // of the last long message
    bool forgotten = false;
    static constexpr uint64_t by_arm = UINT64_MAX;
    bool is_idle = true;
    uint64_t looks = 0, looks_until_idle = by_arm; // by the look with this number, or by arm()

  private:
    std::string address_;
};

// This rank is 0, alone on its host; rank 1 is elsewhere.
struct Host {
    boot::NodeSegment segment;
    std::unique_ptr<Lane> lane;
    TestNetwork* network = new TestNetwork;
    transport::ucx::Sink sink;
    Team team;
    Host() {
        Problem why;
        boot::Nodes nodes;
        nodes.node_of = {0, 1};
        nodes.count = 2;
        EXPECT_TRUE(boot::NodeSegment::make("test", {0}, 2, segment, why, &nodes)) << format(why);
        lane = std::make_unique<Lane>(segment, 0, 0);
        lane->use_network(std::unique_ptr<transport::ucx::Network>(network));
        sink = lane->network_sink();
        team = Team{lane.get(), 2, 0, 2, RankMap(0), 0};
    }
    void answer(wire::Kind kind, int note = 0) {
        const wire::Withdraw w{network->name.sender, team.context};
        wire::Envelope e{kind, 0, sizeof w, 0, 0, 0, note, 0};
        std::byte payload[wire::inline_max];
        std::memcpy(payload, &w, sizeof w);
        sink.arrived(sink.subject, {0, e, payload, nullptr, 0});
    }
};

constexpr int too_late = 1;

// The network ends a long send in the same way whether it was received or dropped, and before or after the
// receiver's word: only that word counts.
TEST(Remote, ALongSendThatWasAskedBackWaitsForTheReceiversWord) {
    for (const bool dropped : {true, false})
        for (const bool network_first : {true, false}) {
            Host h;
            const std::vector<char> data(1 << 20, 'a');
            Operation op = make_send(h.team, data.data(), data.size(), 1, 5);
            h.lane->start_send(op);
            h.lane->cancel(op);
            h.lane->cancel(op); // once more changes nothing
            ASSERT_EQ(h.network->lines.size(), 1U);
            EXPECT_EQ(h.network->lines[0].kind, wire::Kind::withdraw);
            if (network_first) h.sink.sent(h.sink.subject, &op, Outcome::done);
            EXPECT_FALSE(op.done());
            h.answer(wire::Kind::withdrawn, dropped ? 0 : too_late);
            if (!network_first) {
                EXPECT_FALSE(op.done());
                h.sink.sent(h.sink.subject, &op, Outcome::done);
            }
            EXPECT_TRUE(op.done());
            EXPECT_EQ(op.cancelled, dropped);
        }
}

TEST(Remote, AReceiverAnswersThatAMessageIsNotThereAnyMore) {
    Host h;
    h.answer(wire::Kind::withdraw); // of nothing that is known here: sender 0 is no name
    EXPECT_TRUE(h.network->lines.empty());
    h.network->name.sender = 77;
    h.answer(wire::Kind::withdraw);
    ASSERT_EQ(h.network->lines.size(), 1U);
    EXPECT_EQ(h.network->lines[0].kind, wire::Kind::withdrawn);
    EXPECT_EQ(h.network->lines[0].tag, too_late);
}

TEST(Remote, NobodyWaitsForARankThatIsGone) {
    Host h;
    const std::vector<char> data(100, 'a');
    std::vector<char> in(100);
    Operation recv = make_recv(h.team, in.data(), in.size(), 1, 5);
    Operation sync = make_send(h.team, data.data(), data.size(), 1, 5);
    sync.synchronous = true;
    h.lane->start_recv(recv);
    h.lane->start_send(sync);
    EXPECT_EQ(h.lane->look_for_news(), 0);
    h.segment.tell_failed(1);
    EXPECT_EQ(h.lane->look_for_news(), 1 + 2);
    EXPECT_TRUE(h.network->forgotten);
    EXPECT_TRUE(recv.done() && recv.error == Err::proc_failed);
    EXPECT_TRUE(sync.done() && sync.error == Err::proc_failed);
}

// Who is about to sleep on something other than an operation must not: a collective on shared memory waits
// for flags, which a rank that is gone does not set.
TEST(Remote, AFailureThatEndsNoOperationIsSomethingThatHappened) {
    Host h;
    h.segment.tell_failed(1);
    EXPECT_EQ(h.lane->look_for_news(), 1);
    EXPECT_EQ(h.lane->look_for_news(), 0); // known now
    h.segment.tell_revoked(h.team.context);
    EXPECT_EQ(h.lane->look_for_news(), 1);
}

// Nothing wakes a rank from outside when its own last look, or what its network sends before the sleep, ends
// the wait.
TEST(Remote, NobodySleepsOnWhatItHasJustDoneItself) {
    uint64_t looks_before_sleep = TestNetwork::by_arm;
    for (const bool by_a_look : {false, true}) {
        Host h;
        h.network->is_idle = false;
        h.network->looks_until_idle = looks_before_sleep;
        const uint64_t begin = os::now_ns();
        wait_until(
            *h.lane, [&] { return h.lane->drained(); }, note_on(Operation{}));
        EXPECT_LT(os::now_ns() - begin, 500'000'000U) << by_a_look;
        EXPECT_EQ(h.segment.block(0).counters.get(Counter::late_wakes), 0U) << by_a_look;
        looks_before_sleep = h.network->looks;
    }
}

} // namespace
} // namespace zipmpi::proto
