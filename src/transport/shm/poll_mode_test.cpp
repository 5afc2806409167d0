// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How a receiver detects messages in each poll mode: no awaited message is missed, and only the rings of the
// mode are polled.
#include "transport/shm/test_ranks.hpp"

#include <memory>
#include <random>
#include <thread>

namespace zipmpi::transport::shm {
namespace {

// One receiver and its senders, all driven by one thread.
struct Funnel {
    segment::NodeSegment segment;
    ShmTransport to;
    std::vector<std::unique_ptr<ShmTransport>> senders; // [0] is null
    std::vector<uint32_t> sent;
    std::vector<uint32_t> received;

    explicit Funnel(uint32_t ranks)
        : segment(make_segment(ranks))
        , to(segment, 0)
        , senders(ranks)
        , sent(ranks)
        , received(ranks) {
        for (uint32_t r = 1; r < ranks; ++r) senders[r] = std::make_unique<ShmTransport>(segment, r);
    }
    SendStatus send(uint32_t from) {
        const SendStatus result =
            senders[from]->send_inline(0, envelope(1), bytes_of(&sent[from]), sizeof(uint32_t));
        if (result == SendStatus::ok) ++sent[from];
        return result;
    }
    void send_from_all() {
        for (uint32_t r = 1; r < senders.size(); ++r) EXPECT_EQ(send(r), SendStatus::ok);
    }
    void receive(const Arrival& m) {
        uint32_t number = 0;
        std::memcpy(&number, m.payload, sizeof number);
        EXPECT_EQ(number, received[m.from]++);
    }
    int poll() {
        return to.poll([this](const Arrival& m) { receive(m); });
    }
};

TEST(Expected, UnexpectedRingIsNotPolled) {
    const ScopedPollMode mode("expected");
    Funnel f(20);
    f.send_from_all();
    EXPECT_EQ(f.poll(), 19) << "all are registered";
    f.send_from_all();
    const uint64_t before = ring_polls(f.to);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(f.poll(), 0);
    EXPECT_EQ(ring_polls(f.to), before) << "nothing is expected";

    f.to.expect(3, 1);
    f.to.expect(7, 1);
    EXPECT_EQ(f.poll(), 2);
    EXPECT_EQ(ring_polls(f.to), before + 2);
    EXPECT_EQ(f.received[3] + f.received[7], 4U);
    f.to.expect(3, -1);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(f.poll(), 0);
    EXPECT_EQ(ring_polls(f.to), before + 102) << "only the expected ring";
    f.to.expect(7, -1);

    f.to.expect(-1, 1);
    EXPECT_EQ(f.poll(), 17) << "any sender: messages in the other rings are delivered";
    EXPECT_EQ(ring_polls(f.to), before + 102 + 19);
    f.to.expect(-1, -1);
    EXPECT_EQ(f.poll(), 0);
    EXPECT_EQ(ring_polls(f.to), before + 102 + 19);
    EXPECT_EQ(f.received, f.sent);
}

TEST(Expected, AllRingsModePollsAll) {
    const ScopedPollMode mode("all_rings");
    Funnel f(20);
    f.send_from_all();
    EXPECT_EQ(f.poll(), 19);
    const uint64_t before = ring_polls(f.to);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(f.poll(), 0);
    EXPECT_EQ(ring_polls(f.to), before + 1900);
}

// The expected set changes while messages are delivered.
TEST(Expected, ExpectedSetChangesDuringDelivery) {
    const ScopedPollMode mode("expected");
    constexpr uint32_t ranks = 9;
    Funnel f(ranks);
    std::mt19937 random(31);
    std::vector<int> expected(ranks);
    const auto change = [&] {
        const uint32_t r = random() % ranks; // 0: any sender
        const int by = expected[r] == 0 || (random() % 2 == 0 && expected[r] < 3) ? 1 : -1;
        expected[r] += by;
        f.to.expect(static_cast<int>(r) - (r == 0 ? 1 : 0), by);
    };
    for (int i = 0; i < 20000; ++i) {
        f.send(1 + random() % (ranks - 1));
        if (random() % 3 == 0) change();
        f.to.poll([&](const Arrival& m) {
            f.receive(m);
            if (random() % 2 == 0) change();
        });
    }
    for (uint32_t r = 1; r < ranks; ++r) f.to.expect(static_cast<int>(r), 1);
    while (f.poll() > 0) {
    }
    EXPECT_EQ(f.received, f.sent);
    EXPECT_GT(f.sent[1], 1000U);
}

// A sender that finds the ring full notifies the receiver, each time again.
TEST(Expected, FullRingIsReadIfNothingIsExpected) {
    const ScopedPollMode mode("expected");
    Funnel f(2);
    for (int lap = 0; lap < 5; ++lap) {
        while (f.send(1) == SendStatus::ok) {
        }
        EXPECT_EQ(f.send(1), SendStatus::would_block);
        EXPECT_GT(f.poll(), 0) << "lap " << lap;
        EXPECT_EQ(f.poll(), 0);
    }
    EXPECT_GT(f.sent[1], 4 * wire::ring_slots);
}

TEST(Expected, CellsReturnIfNothingIsExpected) {
    const ScopedPollMode mode("expected");
    const auto segment = make_segment(3);
    ShmTransport a(segment, 0);
    ShmTransport b(segment, 1);
    ShmTransport c(segment, 2);
    const std::vector<std::byte> data(a.caps().bulk_max, std::byte{7});
    const auto send = [&](Peer to) {
        return a.send_bulk(to, envelope(1), nullptr, 0, {data.data(), data.size()});
    };
    const auto nothing = [](const Arrival&) {};
    b.expect(0, 1); // both are registered
    c.expect(0, 1);
    EXPECT_EQ(send(1), SendStatus::ok);
    EXPECT_EQ(send(2), SendStatus::ok);
    EXPECT_EQ(b.poll(nothing) + c.poll(nothing), 2);
    b.expect(0, -1);
    c.expect(0, -1);
    for (int round = 0; round < 3; ++round) {
        int sent = 0;
        while (send(1 + static_cast<Peer>(sent % 2)) == SendStatus::ok) ++sent;
        EXPECT_GT(sent, 2);
        EXPECT_EQ(b.poll(nothing) + c.poll(nothing), sent) << "the sender has notified both";
    }
    // Also if the sender stops before it has run out of cells.
    EXPECT_EQ(send(1), SendStatus::ok);
    EXPECT_EQ(b.poll(nothing), 0);
    EXPECT_TRUE(a.cell_limit_reached(1));
    EXPECT_EQ(b.poll(nothing), 1);
    EXPECT_FALSE(a.cell_limit_reached(1));
}

TEST(Expected, NotificationPreventsSleep) {
    const ScopedPollMode mode("expected");
    Funnel f(2);
    f.send_from_all();
    EXPECT_EQ(f.poll(), 1);
    f.send_from_all();
    EXPECT_EQ(f.poll(), 0);
    const uint32_t ticket = f.to.arm();
    EXPECT_EQ(f.poll(), 0);
    f.senders[1]->notify_receiver(0);
    EXPECT_TRUE(f.to.sleep(ticket, 5'000'000'000)) << "it must not sleep now";
    f.to.disarm();
    EXPECT_EQ(f.poll(), 1);
}

// One thread sleeps, another one expects a message that arrived before: the first is woken because it may be
// the only one that polls.
TEST(Expected, NewExpectationWakesSleepingThread) {
    const ScopedPollMode mode("expected");
    Funnel f(3);
    f.send_from_all();
    EXPECT_EQ(f.poll(), 2);
    EXPECT_EQ(f.send(1), SendStatus::ok);
    for (const int source : {1, -1}) {
        const uint32_t ticket = f.to.arm();
        EXPECT_EQ(f.poll(), 0);
        f.to.expect(source, 1);
        EXPECT_TRUE(f.to.sleep(ticket, 5'000'000'000)) << source;
        f.to.disarm();
        f.to.expect(source, -1);
    }
}

constexpr uint32_t many = 40; // more than are polled directly

// A slot is written after the poll of its ring, then the sender is evicted from direct polling: no arrival
// bit was set for this slot, and none will be.
TEST(Hybrid, SlotBeforeEvictionIsFound) {
    Funnel f(many);
    constexpr uint32_t after = many; // arrivals before a sender is polled directly
    const auto make_polled = [&](uint32_t r, const auto& meanwhile) {
        for (uint32_t i = 0; i < after; ++i) {
            EXPECT_EQ(f.send(r), SendStatus::ok);
            f.to.poll([&](const Arrival& m) {
                f.receive(m);
                if (m.from == r && i + 1 == after) meanwhile();
            });
        }
    };
    for (uint32_t r = 1; r <= 4; ++r) make_polled(r, [] {});
    for (uint32_t r = 2; r <= 4; ++r) { // so that 1 has the fewest hits
        EXPECT_EQ(f.send(r), SendStatus::ok);
        EXPECT_EQ(f.poll(), 1);
    }
    ASSERT_NE(f.segment.block(0).polled_bitmap[0].load() & 2U, 0U);
    make_polled(5, [&] { EXPECT_EQ(f.send(1), SendStatus::ok); });
    ASSERT_EQ(f.segment.block(0).polled_bitmap[0].load() & 2U, 0U) << "5 has replaced 1";
    f.poll();
    EXPECT_EQ(f.received[1], f.sent[1]);
}

TEST(Hybrid, AllSendersAreReceived) {
    Funnel f(many);
    std::mt19937 random(815);
    uint32_t favorite = 1; // changes over time
    uint64_t evicted = 0;
    uint64_t polled = 0;
    const auto send_one = [&] {
        f.send(1 + (random() % 4 != 0 ? favorite + random() % 3 : random()) % (many - 1));
    };
    for (int i = 0; i < 40000; ++i) {
        if (i % 300 == 0) favorite = random() % (many - 1);
        send_one();
        if (random() % 3 != 0) continue;
        f.to.poll([&](const Arrival& m) {
            f.receive(m);
            if (random() % 4 == 0) send_one();
        });
        const uint64_t now = f.segment.block(0).polled_bitmap[0].load();
        evicted += static_cast<uint64_t>(std::popcount(polled & ~now));
        polled = now;
    }
    // A slot without an arrival bit would stay there until its sender sends again.
    while (f.poll() > 0) {
    }
    EXPECT_EQ(f.received, f.sent);
    EXPECT_EQ(std::popcount(polled), 4);
    EXPECT_GT(evicted, 50U);
}

class AllPollModes : public ::testing::TestWithParam<const char*> {};

// All messages arrive in order while both sides sleep whenever they can; a lost wakeup would fail by the
// timeout of sleep(). In mode expected the receiver expects nothing in the first half and depends on the
// sender's notifications.
TEST_P(AllPollModes, NoWakeupIsLost) {
    const ScopedPollMode mode(GetParam());
    constexpr uint32_t messages = 20000;
    const auto segment = make_segment(2);
    std::atomic<bool> missed_wakeups = false;
    std::thread sender([&] {
        ShmTransport a(segment, 0);
        std::vector<std::byte> bulk(100);
        for (uint32_t i = 0; i < messages;) {
            const auto try_send = [&] {
                const auto* payload = bytes_of(&i);
                return i % 3 == 0 ? a.send_bulk(1, envelope(0), payload, sizeof i, {bulk.data(), bulk.size()})
                                  : a.send_inline(1, envelope(0), payload, sizeof i);
            };
            if (try_send() == SendStatus::ok) {
                ++i;
                continue;
            }
            const uint32_t ticket = a.arm();
            if (try_send() == SendStatus::ok)
                ++i;
            else if (!a.sleep(ticket, 5'000'000'000))
                missed_wakeups = true;
            a.disarm();
        }
    });
    ShmTransport b(segment, 1);
    uint32_t next = 0;
    const auto sink = [&](const Arrival& m) {
        uint32_t value = 0;
        std::memcpy(&value, m.payload, sizeof value);
        EXPECT_EQ(value, next);
        if (++next == messages / 2) b.expect(0, 1);
    };
    while (next < messages && !missed_wakeups) {
        if (b.poll(sink) > 0) continue;
        const uint32_t ticket = b.arm();
        if (b.poll(sink) == 0 && next < messages && !b.sleep(ticket, 5'000'000'000)) missed_wakeups = true;
        b.disarm();
    }
    sender.join();
    EXPECT_EQ(next, messages);
    EXPECT_FALSE(missed_wakeups);
}

INSTANTIATE_TEST_SUITE_P(PollModes, AllPollModes,
                         ::testing::Values("hybrid", "all_rings", "expected", "mpsc"));

} // namespace
} // namespace zipmpi::transport::shm
