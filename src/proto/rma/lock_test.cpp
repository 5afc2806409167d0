// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks as threads on one node segment that contend for one lock.
#include "proto/rma/lock.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <thread>
#include <vector>

namespace zipmpi::proto::rma {
namespace {

struct Node {
    segment::NodeSegment segment;
    std::vector<std::unique_ptr<ProgressEngine>> engines;
    std::unique_ptr<wire::WindowLock> lock = std::make_unique<wire::WindowLock>();

    explicit Node(uint32_t ranks) {
        std::vector<int> world;
        for (uint32_t r = 0; r < ranks; ++r) world.push_back(static_cast<int>(r));
        Diagnostic why;
        EXPECT_TRUE(segment::NodeSegment::make("lock_test", world, static_cast<int>(ranks), segment, why));
        segment.set_usable_cpus(2);
        for (uint32_t r = 0; r < ranks; ++r)
            engines.push_back(std::make_unique<ProgressEngine>(segment, r, static_cast<int>(r)));
    }
    template <class Body>
    void run(const Body& body) {
        std::vector<std::thread> threads;
        for (auto& engine : engines) threads.emplace_back([&body, &engine] { body(*engine); });
        for (std::thread& t : threads) t.join();
    }
};

const Operation wait_operation;

TEST(TicketRwLock, WritersExcludeEachOther) {
    Node node(6);
    int64_t counter = 0; // changed under the lock only
    constexpr int rounds = 2000;
    node.run([&](ProgressEngine& engine) {
        for (int i = 0; i < rounds; ++i) {
            TicketRwLock lock(*node.lock);
            lock.lock_exclusive(engine, wait_operation);
            ++counter;
            lock.unlock_exclusive(engine);
        }
    });
    EXPECT_EQ(counter, 6 * rounds);
}

TEST(TicketRwLock, ReadersExcludeWriters) {
    Node node(6);
    int64_t pair[2] = {0, 0};
    std::atomic<int> readers{0};
    constexpr int rounds = 1000;
    node.run([&](ProgressEngine& engine) {
        const bool writes = engine.peers().world_rank() % 3 == 0;
        for (int i = 0; i < rounds; ++i) {
            TicketRwLock lock(*node.lock);
            if (writes) {
                lock.lock_exclusive(engine, wait_operation);
                ASSERT_EQ(readers.load(), 0);
                ++pair[0];
                ++pair[1];
                lock.unlock_exclusive(engine);
            } else {
                lock.lock_shared(engine, wait_operation);
                ++readers;
                ASSERT_EQ(pair[0], pair[1]);
                --readers;
                lock.unlock_shared(engine);
            }
        }
    });
    EXPECT_EQ(pair[0], 2 * rounds);
    TicketRwLock lock(*node.lock);
    for (const int r : {1, 2})
        lock.lock_shared(*node.engines[r],
                         wait_operation); // the second call would block if readers excluded each other
    uint16_t ticket = 0;
    EXPECT_FALSE(lock.draw_ticket(LockMode::exclusive, ticket));
    for (const int r : {1, 2}) lock.unlock_shared(*node.engines[r]);
    EXPECT_EQ(lock.poll_turn(*node.engines[0], LockMode::exclusive, ticket), TicketRwLock::Turn::granted);
}

// Tickets have 16 bits.
TEST(TicketRwLock, TicketsWrapAround) {
    Node node(1);
    TicketRwLock lock(*node.lock);
    for (int i = 0; i < 70000; ++i) {
        lock.lock_exclusive(*node.engines[0], wait_operation);
        lock.unlock_exclusive(*node.engines[0]);
        lock.lock_shared(*node.engines[0], wait_operation);
        lock.unlock_shared(*node.engines[0]);
    }
    EXPECT_EQ(node.lock->tickets.load() >> 32 & 0xffff, 140000 & 0xffff);
    uint16_t ticket = 0;
    lock.lock_exclusive(*node.engines[0], wait_operation);
    EXPECT_FALSE(lock.draw_ticket(LockMode::shared, ticket));
}

// While a writer waits, a later reader does not enter.
TEST(TicketRwLock, GrantsInTicketOrder) {
    Node node(3);
    TicketRwLock lock(*node.lock);
    std::atomic<int> order{0};
    int writer_position = 0, reader_position = 0;
    const auto tickets = [&] { return node.lock->tickets.load() >> 32 & 0xffff; };
    lock.lock_shared(*node.engines[0], wait_operation);
    std::thread writer([&] {
        TicketRwLock own(*node.lock);
        own.lock_exclusive(*node.engines[1], wait_operation);
        writer_position = ++order;
        own.unlock_exclusive(*node.engines[1]);
    });
    while (tickets() != 2) std::this_thread::yield();
    std::thread reader([&] {
        TicketRwLock own(*node.lock);
        own.lock_shared(*node.engines[2], wait_operation);
        reader_position = ++order;
        own.unlock_shared(*node.engines[2]);
    });
    while (tickets() != 3) std::this_thread::yield();
    for (const uint32_t r : {1U, 2U}) // both are asleep
        while (node.segment.block(r).sleepers.load() == 0) std::this_thread::yield();
    EXPECT_EQ(order.load(), 0);
    lock.unlock_shared(*node.engines[0]);
    writer.join();
    reader.join();
    EXPECT_EQ(writer_position, 1);
    EXPECT_EQ(reader_position, 2);
}

// A rank that waits for several origins polls their tickets.
TEST(TicketRwLock, PollsTickets) {
    Node node(2);
    TicketRwLock lock(*node.lock);
    ProgressEngine& engine = *node.engines[0];
    uint16_t reader = 0, writer = 0, late_reader = 0;
    EXPECT_TRUE(lock.draw_ticket(LockMode::shared, reader));
    EXPECT_FALSE(lock.draw_ticket(LockMode::exclusive, writer));
    EXPECT_FALSE(lock.draw_ticket(LockMode::shared, late_reader)); // does not overtake
    EXPECT_EQ(lock.poll_turn(engine, LockMode::exclusive, writer), TicketRwLock::Turn::waiting);
    EXPECT_EQ(lock.poll_turn(engine, LockMode::shared, late_reader), TicketRwLock::Turn::waiting);
    lock.unlock_shared(engine);
    EXPECT_EQ(lock.poll_turn(engine, LockMode::shared, late_reader), TicketRwLock::Turn::waiting);
    EXPECT_EQ(lock.poll_turn(engine, LockMode::exclusive, writer), TicketRwLock::Turn::granted);
    EXPECT_EQ(lock.poll_turn(engine, LockMode::shared, late_reader), TicketRwLock::Turn::waiting);
    lock.unlock_exclusive(engine);
    EXPECT_EQ(lock.poll_turn(engine, LockMode::shared, late_reader), TicketRwLock::Turn::granted);
    EXPECT_TRUE(lock.draw_ticket(LockMode::shared, reader));
    lock.unlock_shared(engine);
    lock.unlock_shared(engine);
    lock.lock_exclusive(*node.engines[1], wait_operation);
    lock.unlock_exclusive(*node.engines[1]);
}

// When oversubscribed, a running writer overtakes a sleeping waiter, but at most 8 times.
TEST(TicketRwLock, OvertakesSleepersBoundedly) {
    constexpr int most = 8;
    Node node(3);
    TicketRwLock lock(*node.lock);
    ProgressEngine& runs = *node.engines[0];
    ProgressEngine& sleeps = *node.engines[1];
    uint16_t first = 0, second = 0;
    lock.lock_exclusive(runs, wait_operation);
    EXPECT_FALSE(lock.draw_ticket(LockMode::exclusive, first));
    EXPECT_EQ(lock.poll_turn(sleeps, LockMode::exclusive, first),
              TicketRwLock::Turn::waiting); // registers for a wakeup
    lock.unlock_exclusive(runs);
    for (int i = 0; i < most; ++i) {
        lock.lock_exclusive(runs, wait_operation);
        EXPECT_EQ(lock.poll_turn(sleeps, LockMode::exclusive, first), TicketRwLock::Turn::waiting);
        lock.unlock_exclusive(runs);
    }
    EXPECT_FALSE(lock.draw_ticket(LockMode::shared, second)); // a reader does not overtake
    std::atomic<bool> inside{false};
    std::thread late([&] {
        TicketRwLock own(*node.lock);
        own.lock_exclusive(*node.engines[2], wait_operation);
        inside = true;
        own.unlock_exclusive(*node.engines[2]);
    });
    while (node.segment.block(2).sleepers.load() == 0 && !inside) std::this_thread::yield();
    EXPECT_FALSE(inside.load());
    EXPECT_EQ(lock.poll_turn(runs, LockMode::shared, second), TicketRwLock::Turn::waiting);
    EXPECT_EQ(lock.poll_turn(sleeps, LockMode::exclusive, first), TicketRwLock::Turn::granted);
    EXPECT_FALSE(inside.load());
    lock.unlock_exclusive(sleeps);
    EXPECT_EQ(lock.poll_turn(runs, LockMode::shared, second), TicketRwLock::Turn::granted);
    lock.unlock_shared(runs);
    late.join();
    EXPECT_TRUE(inside.load());
}

TEST(SpinGuard, ExcludesOthers) {
    segment::NodeSegment segment;
    Diagnostic why;
    ASSERT_TRUE(segment::NodeSegment::make("guard_test", {0, 1, 2, 3}, 4, segment, why));
    std::atomic<uint32_t> word{0};
    int64_t counter = 0;
    std::vector<std::thread> threads;
    for (uint32_t t = 1; t <= 4; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 20000; ++i) {
                const SpinGuard spin_guard(word, {&segment, t});
                ++counter;
            }
        });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(counter, 80000);
    EXPECT_EQ(word.load(), 0U);
}

TEST(SpinGuard, IsTakenOverFromAFailedHolder) {
    segment::NodeSegment segment;
    Diagnostic why;
    ASSERT_TRUE(segment::NodeSegment::make("guard_test", {0, 1}, 2, segment, why));
    std::atomic<uint32_t> word{0};
    const SpinGuard::Holder failing{&segment, 2};
    alignas(SpinGuard) std::byte abandoned[sizeof(SpinGuard)];
    new (abandoned) SpinGuard(word, failing); // never released
    std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        EXPECT_EQ(word.load(), failing.id); // a waiter does not take it from a live holder
        segment.faults().publish_failed(1);
        segment.faults().notify();
    });
    {
        const SpinGuard guard(word, {&segment, 1});
        EXPECT_EQ(word.load(), 1U);
    }
    EXPECT_EQ(word.load(), 0U);
    later.join();
}

} // namespace
} // namespace zipmpi::proto::rma
