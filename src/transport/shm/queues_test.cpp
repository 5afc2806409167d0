// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How a receiver learns of lines, in each design of queues: nothing that anybody waits for is missed, and no
// more rings are looked at than the design says.
#include "transport/shm/test_ranks.hpp"

#include <memory>
#include <random>
#include <thread>

namespace zipmpi::transport::shm {
namespace {

// One receiver and its senders, all driven by one thread.
struct Funnel {
    boot::NodeSegment segment;
    Transport to;
    std::vector<std::unique_ptr<Transport>> senders; // [0] is null
    std::vector<uint32_t> sent;
    std::vector<uint32_t> got;

    explicit Funnel(uint32_t ranks)
        : segment(make_segment(ranks))
        , to(segment, 0)
        , senders(ranks)
        , sent(ranks)
        , got(ranks) {
        for (uint32_t r = 1; r < ranks; ++r) senders[r] = std::make_unique<Transport>(segment, r);
    }
    Sent send(uint32_t from) {
        const Sent result =
            senders[from]->send_short(0, envelope(1), bytes_of(&sent[from]), sizeof(uint32_t));
        if (result == Sent::ok) ++sent[from];
        return result;
    }
    void send_from_all() {
        for (uint32_t r = 1; r < senders.size(); ++r) EXPECT_EQ(send(r), Sent::ok);
    }
    void take(const Arrival& m) {
        uint32_t number = 0;
        std::memcpy(&number, m.payload, sizeof number);
        EXPECT_EQ(number, got[m.from]++);
    }
    int poll() {
        return to.poll([this](const Arrival& m) { take(m); });
    }
};

TEST(Expected, ASilentRingIsNotRead) {
    const WithQueues queues("expected");
    Funnel f(20);
    f.send_from_all();
    EXPECT_EQ(f.poll(), 19) << "all are met";
    f.send_from_all();
    const uint64_t before = looks(f.to);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(f.poll(), 0);
    EXPECT_EQ(looks(f.to), before) << "nothing is expected";

    f.to.expect(3, 1);
    f.to.expect(7, 1);
    EXPECT_EQ(f.poll(), 2);
    EXPECT_EQ(looks(f.to), before + 2);
    EXPECT_EQ(f.got[3] + f.got[7], 4U);
    f.to.expect(3, -1);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(f.poll(), 0);
    EXPECT_EQ(looks(f.to), before + 102) << "only the ring from which something is expected";
    f.to.expect(7, -1);

    f.to.expect(-1, 1);
    EXPECT_EQ(f.poll(), 17) << "from anybody: what lay in the others is there";
    EXPECT_EQ(looks(f.to), before + 102 + 19);
    f.to.expect(-1, -1);
    EXPECT_EQ(f.poll(), 0);
    EXPECT_EQ(looks(f.to), before + 102 + 19);
    EXPECT_EQ(f.got, f.sent);
}

TEST(Expected, PairsLooksAtAllOfThem) {
    const WithQueues queues("pairs");
    Funnel f(20);
    f.send_from_all();
    EXPECT_EQ(f.poll(), 19);
    const uint64_t before = looks(f.to);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(f.poll(), 0);
    EXPECT_EQ(looks(f.to), before + 1900);
}

// A receiver that comes to expect something while lines are delivered, and whose list changes under way.
TEST(Expected, WhatIsExpectedChangesWhileLinesAreDelivered) {
    const WithQueues queues("expected");
    constexpr uint32_t ranks = 9;
    Funnel f(ranks);
    std::mt19937 random(31);
    std::vector<int> expected(ranks);
    const auto change = [&] {
        const uint32_t r = random() % ranks; // 0: anybody
        const int by = expected[r] == 0 || (random() % 2 == 0 && expected[r] < 3) ? 1 : -1;
        expected[r] += by;
        f.to.expect(static_cast<int>(r) - (r == 0 ? 1 : 0), by);
    };
    for (int i = 0; i < 20000; ++i) {
        f.send(1 + random() % (ranks - 1));
        if (random() % 3 == 0) change();
        f.to.poll([&](const Arrival& m) {
            f.take(m);
            if (random() % 2 == 0) change();
        });
    }
    for (uint32_t r = 1; r < ranks; ++r) f.to.expect(static_cast<int>(r), 1);
    while (f.poll() > 0) {
    }
    EXPECT_EQ(f.got, f.sent);
    EXPECT_GT(f.sent[1], 1000U);
}

// A sender that finds the ring full calls, each time anew.
TEST(Expected, AFullRingIsReadThoughNothingIsExpected) {
    const WithQueues queues("expected");
    Funnel f(2);
    for (int lap = 0; lap < 5; ++lap) {
        while (f.send(1) == Sent::ok) {
        }
        EXPECT_EQ(f.send(1), Sent::would_block);
        EXPECT_GT(f.poll(), 0) << "lap " << lap;
        EXPECT_EQ(f.poll(), 0);
    }
    EXPECT_GT(f.sent[1], 4 * wire::ring_lines);
}

TEST(Expected, CellsComeBackThoughNothingIsExpected) {
    const WithQueues queues("expected");
    const auto segment = make_segment(3);
    Transport a(segment, 0);
    Transport b(segment, 1);
    Transport c(segment, 2);
    const std::vector<std::byte> data(a.caps().bulk_max, std::byte{7});
    const auto send = [&](Peer to) {
        return a.send_bulk(to, envelope(1), nullptr, 0, {data.data(), data.size()});
    };
    const auto nothing = [](const Arrival&) {};
    b.expect(0, 1); // both are met
    c.expect(0, 1);
    EXPECT_EQ(send(1), Sent::ok);
    EXPECT_EQ(send(2), Sent::ok);
    EXPECT_EQ(b.poll(nothing) + c.poll(nothing), 2);
    b.expect(0, -1);
    c.expect(0, -1);
    for (int round = 0; round < 3; ++round) {
        int sent = 0;
        while (send(1 + static_cast<Peer>(sent % 2)) == Sent::ok) ++sent;
        EXPECT_GT(sent, 2);
        EXPECT_EQ(b.poll(nothing) + c.poll(nothing), sent) << "the sender has called both";
    }
    // the same if it stops before it has run out of them
    EXPECT_EQ(send(1), Sent::ok);
    EXPECT_EQ(b.poll(nothing), 0);
    EXPECT_TRUE(a.cells_out(1));
    EXPECT_EQ(b.poll(nothing), 1);
    EXPECT_FALSE(a.cells_out(1));
}

TEST(Expected, ACallIsHeard) {
    const WithQueues queues("expected");
    Funnel f(2);
    f.send_from_all();
    EXPECT_EQ(f.poll(), 1);
    f.send_from_all();
    EXPECT_EQ(f.poll(), 0);
    const uint32_t ticket = f.to.arm();
    EXPECT_EQ(f.poll(), 0);
    f.senders[1]->call(0);
    EXPECT_TRUE(f.to.sleep(ticket, 5'000'000'000)) << "it must not sleep now";
    f.to.disarm();
    EXPECT_EQ(f.poll(), 1);
}

// One thread sleeps, another one expects what came before that: the first is woken, since it may be the only
// one that looks.
TEST(Expected, ANewExpectationWakesAThreadThatSleeps) {
    const WithQueues queues("expected");
    Funnel f(3);
    f.send_from_all();
    EXPECT_EQ(f.poll(), 2);
    EXPECT_EQ(f.send(1), Sent::ok);
    for (const int source : {1, -1}) {
        const uint32_t ticket = f.to.arm();
        EXPECT_EQ(f.poll(), 0);
        f.to.expect(source, 1);
        EXPECT_TRUE(f.to.sleep(ticket, 5'000'000'000)) << source;
        f.to.disarm();
        f.to.expect(source, -1);
    }
}

constexpr uint32_t many = 40; // more than are watched

// A line of a watched sender comes after the look at its ring, and then its place is given away: nobody has
// announced the line, and nobody else will.
TEST(Watched, ALineBeforeEvictionIsFound) {
    Funnel f(many);
    constexpr uint32_t after = many; // arrivals before a sender is watched
    const auto make_watched = [&](uint32_t r, const auto& meanwhile) {
        for (uint32_t i = 0; i < after; ++i) {
            EXPECT_EQ(f.send(r), Sent::ok);
            f.to.poll([&](const Arrival& m) {
                f.take(m);
                if (m.from == r && i + 1 == after) meanwhile();
            });
        }
    };
    for (uint32_t r = 1; r <= 4; ++r) make_watched(r, [] {});
    for (uint32_t r = 2; r <= 4; ++r) { // so that 1 is the one that comes least
        EXPECT_EQ(f.send(r), Sent::ok);
        EXPECT_EQ(f.poll(), 1);
    }
    ASSERT_NE(f.segment.block(0).watched[0].load() & 2U, 0U);
    make_watched(5, [&] { EXPECT_EQ(f.send(1), Sent::ok); });
    ASSERT_EQ(f.segment.block(0).watched[0].load() & 2U, 0U) << "5 has taken the place of 1";
    f.poll();
    EXPECT_EQ(f.got[1], f.sent[1]);
}

TEST(Watched, ManySendersAreHeardWhoeverIsWatched) {
    Funnel f(many);
    std::mt19937 random(815);
    uint32_t favorite = 1; // senders that come often change
    uint64_t evicted = 0;
    uint64_t watched = 0;
    const auto send_one = [&] {
        f.send(1 + (random() % 4 != 0 ? favorite + random() % 3 : random()) % (many - 1));
    };
    for (int i = 0; i < 40000; ++i) {
        if (i % 300 == 0) favorite = random() % (many - 1);
        send_one();
        if (random() % 3 != 0) continue;
        f.to.poll([&](const Arrival& m) {
            f.take(m);
            if (random() % 4 == 0) send_one();
        });
        const uint64_t now = f.segment.block(0).watched[0].load();
        evicted += static_cast<uint64_t>(std::popcount(watched & ~now));
        watched = now;
    }
    // a line that is never announced would lie there until its sender comes again
    while (f.poll() > 0) {
    }
    EXPECT_EQ(f.got, f.sent);
    EXPECT_EQ(std::popcount(watched), 4);
    EXPECT_GT(evicted, 50U);
}

class AllQueues : public ::testing::TestWithParam<const char*> {};

// Every line counted and in order while both sides sleep whenever they can: a lost wake-up would hang (and
// fail by the timeout of sleep()). Where only what is expected is read, the receiver expects nothing in the
// first half: it lives on the sender's calls.
TEST_P(AllQueues, NoWakeUpIsLost) {
    const WithQueues queues(GetParam());
    constexpr uint32_t messages = 20000;
    const auto segment = make_segment(2);
    std::atomic<bool> slept_in_vain = false;
    std::thread sender([&] {
        Transport a(segment, 0);
        std::vector<std::byte> bulk(100);
        for (uint32_t i = 0; i < messages;) {
            const auto try_send = [&] {
                const auto* payload = bytes_of(&i);
                return i % 3 == 0 ? a.send_bulk(1, envelope(0), payload, sizeof i, {bulk.data(), bulk.size()})
                                  : a.send_short(1, envelope(0), payload, sizeof i);
            };
            if (try_send() == Sent::ok) {
                ++i;
                continue;
            }
            const uint32_t ticket = a.arm();
            if (try_send() == Sent::ok)
                ++i;
            else if (!a.sleep(ticket, 5'000'000'000))
                slept_in_vain = true;
            a.disarm();
        }
    });
    Transport b(segment, 1);
    uint32_t next = 0;
    const auto sink = [&](const Arrival& m) {
        uint32_t value = 0;
        std::memcpy(&value, m.payload, sizeof value);
        EXPECT_EQ(value, next);
        if (++next == messages / 2) b.expect(0, 1);
    };
    while (next < messages && !slept_in_vain) {
        if (b.poll(sink) > 0) continue;
        const uint32_t ticket = b.arm();
        if (b.poll(sink) == 0 && next < messages && !b.sleep(ticket, 5'000'000'000)) slept_in_vain = true;
        b.disarm();
    }
    sender.join();
    EXPECT_EQ(next, messages);
    EXPECT_FALSE(slept_in_vain);
}

INSTANTIATE_TEST_SUITE_P(Designs, AllQueues, ::testing::Values("watched", "pairs", "expected", "shared"));

} // namespace
} // namespace zipmpi::transport::shm
