// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Messages without an operation: try_send_inline(), try_send_multislot() and try_recv_inline(); and those of
// posted receives without progress: receive_ready().
#include "proto/p2p/test_engine_pair.hpp"

#include <cstring>
#include <string>

namespace zipmpi::proto {
namespace {

constexpr int progress_interval = 32; // of MessageReceiver

class InlineMessages : public testing::Test {
  protected:
    EnginePair pair;
    char received[wire::multislot_max + 1] = {};

    void SetUp() override { // the first message opens the ring, and is received by a poll
        EXPECT_FALSE(send(0, 99, "first"));
        Operation first;
        start_send(99, "first", false, first);
        ASSERT_TRUE(recv_by_operation(99));
    }
    bool send(int from, int tag, const char* text) {
        const wire::Envelope e{wire::MessageKind::eager, 0, 0, 0, pair.teams[from].context, from, tag, 0};
        const auto* data = reinterpret_cast<const std::byte*>(text);
        const size_t bytes = std::strlen(text) + 1;
        MessageSender& sender = pair.engines[from]->sender();
        return bytes <= wire::inline_max ? sender.try_send_inline(1 - from, e, data, bytes)
                                         : sender.try_send_multislot(1 - from, e, data, bytes);
    }
    void start_send(int tag, const char* text, bool synchronous, Operation& op) {
        set_send(op, pair.teams[0], text, std::strlen(text) + 1, 1, tag);
        op.synchronous = synchronous;
        pair.engines[0]->start_send(op);
    }
    // By the general path.
    bool recv_by_operation(int tag) {
        Operation op = make_recv(pair.teams[1], received, sizeof received, 0, tag);
        pair.engines[1]->start_recv(op);
        pair.progress_until_idle();
        return op.done();
    }
    // Tries twice, because one try in progress_interval is refused.
    bool recv(int tag, size_t capacity = 64, wire::Envelope* matched = nullptr) {
        std::memset(received, 0, sizeof received);
        wire::Envelope e{wire::MessageKind::eager, 0, 0, 0, pair.teams[1].context, 0, tag, 0};
        const auto attempt = [&] {
            return pair.engines[1]->receiver().try_recv_inline(0, e, reinterpret_cast<std::byte*>(received),
                                                               capacity);
        };
        const bool done = attempt() || attempt();
        if (matched != nullptr) *matched = e;
        return done;
    }
};

TEST_F(InlineMessages, ArriveInOrderWithTheirTags) {
    ASSERT_TRUE(send(0, 1, "one"));
    ASSERT_TRUE(send(0, 2, "two"));
    wire::Envelope e{};
    ASSERT_TRUE(recv(any_tag, 64, &e));
    EXPECT_STREQ(received, "one");
    EXPECT_EQ(e.tag, 1);
    EXPECT_EQ(e.inline_bytes, 4);
    ASSERT_TRUE(recv(2));
    EXPECT_STREQ(received, "two");
    EXPECT_FALSE(recv(any_tag)); // nothing left
}

TEST_F(InlineMessages, AnotherTagOrContextIsLeftInTheRing) {
    ASSERT_TRUE(send(0, 1, "one"));
    EXPECT_FALSE(recv(2));
    pair.teams[1].context += 2;
    EXPECT_FALSE(recv(1));
    pair.teams[1].context -= 2;
    EXPECT_TRUE(recv(1));
}

TEST_F(InlineMessages, ALongerMessageThanTheBufferIsLeft) {
    ASSERT_TRUE(send(0, 1, "longer"));
    EXPECT_FALSE(recv(1, 6));
    EXPECT_TRUE(recv(1, 7));
}

TEST_F(InlineMessages, DoNotOvertakeUnexpectedMessages) {
    ASSERT_TRUE(send(0, 1, "earlier"));
    pair.engines[1]->progress(); // now unexpected
    ASSERT_TRUE(send(0, 1, "later"));
    EXPECT_FALSE(recv(1));
    Operation op = make_recv(pair.teams[1], received, sizeof received, 0, 1);
    pair.engines[1]->start_recv(op);
    EXPECT_STREQ(received, "earlier");
    EXPECT_TRUE(recv(1));
    EXPECT_STREQ(received, "later");
}

TEST_F(InlineMessages, DoNotOvertakePostedReceives) {
    char posted[64] = {};
    Operation op = make_recv(pair.teams[1], posted, sizeof posted, any_source, any_tag);
    pair.engines[1]->start_recv(op);
    ASSERT_TRUE(send(0, 1, "for the posted"));
    EXPECT_FALSE(recv(1));
    pair.engines[1]->progress();
    EXPECT_TRUE(op.done());
    EXPECT_STREQ(posted, "for the posted");
}

TEST_F(InlineMessages, SynchronousAndLongerMessagesTakeTheGeneralPath) {
    Operation synchronous;
    start_send(1, "synchronous", true, synchronous);
    EXPECT_FALSE(recv(1));
    EXPECT_TRUE(recv_by_operation(1));
    EXPECT_TRUE(synchronous.done());

    Operation longer;
    start_send(2, "more than forty bytes, which take two slots", false, longer);
    EXPECT_FALSE(recv(2));
    EXPECT_TRUE(recv_by_operation(2));
}

// Every length that needs several slots, at every position in the ring.
TEST_F(InlineMessages, LongerMessagesAreSentInSeveralSlots) {
    for (int round = 0; round < 3; ++round)
        for (size_t bytes = wire::inline_max + 1; bytes <= wire::multislot_max; ++bytes) {
            std::string text(bytes - 1, static_cast<char>('a' + bytes % 26));
            text.back() = static_cast<char>('A' + bytes % 25);
            if (!send(0, 3, text.c_str())) { // the general path reads the receiver's count
                Operation op;
                start_send(3, text.c_str(), false, op);
                ASSERT_TRUE(op.done());
            }
            std::memset(received, 0, sizeof received);
            ASSERT_TRUE(recv_by_operation(3));
            ASSERT_EQ(received, text);
        }
}

class ReadyMessages : public InlineMessages {
  protected:
    struct Posted : Operation {
        char text[16] = {};
        Posted(EnginePair& pair, int expected_tag, size_t capacity = sizeof text) {
            set_recv(*this, pair.teams[1], text, capacity, 0, expected_tag);
            pair.engines[1]->start_recv(*this);
        }
    };
    void receive_ready() { pair.engines[1]->receiver().receive_ready(0); }
};

TEST_F(ReadyMessages, CompletePostedReceivesInOrder) {
    Posted one(pair, 1);
    Posted two(pair, 2);
    Posted other(pair, 1);
    for (const char* text : {"a", "b"}) ASSERT_TRUE(send(0, 1, text));
    ASSERT_TRUE(send(0, 2, "c"));
    receive_ready();
    EXPECT_STREQ(one.text, "a");
    EXPECT_STREQ(other.text, "b");
    EXPECT_STREQ(two.text, "c");
    EXPECT_TRUE(one.done() && two.done() && other.done());
    EXPECT_EQ(two.matched_source, 0);
    EXPECT_EQ(two.matched_tag, 2);
    EXPECT_EQ(two.received, 2U);
    EXPECT_TRUE(pair.engines[1]->receiver().matcher().empty());
}

// What follows is left to progress(), so that the order of messages is kept.
TEST_F(ReadyMessages, StopAtTheFirstThatNeedsMore) {
    Posted short_one(pair, 1, 2);
    Posted next(pair, 2);
    ASSERT_TRUE(send(0, 1, "long"));
    ASSERT_TRUE(send(0, 2, "x"));
    receive_ready();
    EXPECT_FALSE(short_one.done() || next.done());
    pair.progress_until_idle();
    EXPECT_EQ(short_one.error, Err::truncate);
    EXPECT_STREQ(next.text, "x");

    Posted third(pair, 3);
    ASSERT_TRUE(send(0, 4, "without a receive"));
    ASSERT_TRUE(send(0, 3, "y"));
    receive_ready();
    EXPECT_FALSE(third.done());
    pair.progress_until_idle();
    EXPECT_STREQ(third.text, "y");
    EXPECT_TRUE(recv_by_operation(4));

    Posted matched(pair, 5);
    Operation synchronous;
    start_send(5, "z", true, synchronous);
    receive_ready();
    EXPECT_FALSE(matched.done());
    pair.progress_until_idle();
    EXPECT_TRUE(matched.done() && synchronous.done());
}

TEST_F(ReadyMessages, DoNotOvertakeReceivesWithWildcards) {
    Posted wildcard(pair, any_tag);
    Posted exact(pair, 1);
    ASSERT_TRUE(send(0, 1, "a"));
    receive_ready();
    EXPECT_FALSE(wildcard.done() || exact.done());
    pair.progress_until_idle();
    EXPECT_STREQ(wildcard.text, "a");
    ASSERT_TRUE(send(0, 1, "b"));
    pair.progress_until_idle();
    EXPECT_STREQ(exact.text, "b");
}

// It would run within the call of the user.
TEST_F(ReadyMessages, LeaveReceivesWithACallback) {
    Posted posted(pair, 1);
    static int calls = 0;
    posted.on_done = [](Operation&) { ++calls; };
    ASSERT_TRUE(send(0, 1, "a"));
    receive_ready();
    EXPECT_FALSE(posted.done());
    pair.progress_until_idle();
    EXPECT_EQ(calls, 1);
}

// A program that only receives waiting messages must nevertheless poll everything else now and then.
TEST_F(InlineMessages, OneReceiveInAnIntervalIsRefused) {
    int refused = 0;
    for (int i = 0; i < 3 * progress_interval; ++i) {
        ASSERT_TRUE(send(0, 1, "x"));
        wire::Envelope e{wire::MessageKind::eager, 0, 0, 0, pair.teams[1].context, 0, 1, 0};
        while (!pair.engines[1]->receiver().try_recv_inline(0, e, reinterpret_cast<std::byte*>(received),
                                                            sizeof received))
            ++refused;
    }
    EXPECT_EQ(refused, 3);
}

// More messages than the ring has slots: the sender is refused until the receiver has published its count.
TEST_F(InlineMessages, AFullRingRefusesASend) {
    int sent = 0;
    while (send(0, 1, "x")) ++sent;
    EXPECT_GT(sent, 64);
    EXPECT_LE(sent, static_cast<int>(wire::ring_slots));
    for (int i = 0; i < sent; ++i) ASSERT_TRUE(recv(1)) << i;
    Operation op; // the general path reads the receiver's count
    start_send(1, "y", false, op);
    EXPECT_TRUE(op.done());
    EXPECT_TRUE(recv(1));
    EXPECT_STREQ(received, "y");
    EXPECT_TRUE(send(0, 1, "z"));
}

} // namespace
} // namespace zipmpi::proto
