// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks as threads on one node segment that take turns at one lock.
#include "proto/rma/lock.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <thread>
#include <vector>

namespace zipmpi::proto::rma {
namespace {

struct Node {
    boot::NodeSegment segment;
    std::vector<std::unique_ptr<Lane>> lanes;
    std::unique_ptr<wire::WindowLock> lock = std::make_unique<wire::WindowLock>();

    explicit Node(uint32_t ranks) {
        std::vector<int> world;
        for (uint32_t r = 0; r < ranks; ++r) world.push_back(static_cast<int>(r));
        Problem why;
        EXPECT_TRUE(boot::NodeSegment::make("lock_test", world, static_cast<int>(ranks), segment, why));
        segment.set_usable_cpus(2);
        for (uint32_t r = 0; r < ranks; ++r)
            lanes.push_back(std::make_unique<Lane>(segment, r, static_cast<int>(r)));
    }
    template <class Body>
    void run(const Body& body) {
        std::vector<std::thread> threads;
        for (auto& lane : lanes) threads.emplace_back([&body, &lane] { body(*lane); });
        for (std::thread& t : threads) t.join();
    }
};

const Operation shown;

TEST(FairLock, WritersExcludeEachOther) {
    Node node(6);
    int64_t counter = 0; // changed under the lock only
    constexpr int rounds = 2000;
    node.run([&](Lane& lane) {
        for (int i = 0; i < rounds; ++i) {
            FairLock lock(*node.lock);
            lock.lock_exclusive(lane, shown);
            ++counter;
            lock.unlock_exclusive(lane);
        }
    });
    EXPECT_EQ(counter, 6 * rounds);
}

TEST(FairLock, ReadersExcludeWriters) {
    Node node(6);
    int64_t pair[2] = {0, 0};
    std::atomic<int> readers{0};
    constexpr int rounds = 1000;
    node.run([&](Lane& lane) {
        const bool writes = lane.world_rank() % 3 == 0;
        for (int i = 0; i < rounds; ++i) {
            FairLock lock(*node.lock);
            if (writes) {
                lock.lock_exclusive(lane, shown);
                ASSERT_EQ(readers.load(), 0);
                ++pair[0];
                ++pair[1];
                lock.unlock_exclusive(lane);
            } else {
                lock.lock_shared(lane, shown);
                ++readers;
                ASSERT_EQ(pair[0], pair[1]);
                --readers;
                lock.unlock_shared(lane);
            }
        }
    });
    EXPECT_EQ(pair[0], 2 * rounds);
    FairLock lock(*node.lock);
    for (const int r : {1, 2}) lock.lock_shared(*node.lanes[r], shown); // both are inside, or this never ends
    uint16_t ticket = 0;
    EXPECT_FALSE(lock.draw(true, ticket));
    for (const int r : {1, 2}) lock.unlock_shared(*node.lanes[r]);
    EXPECT_EQ(lock.look(*node.lanes[0], true, ticket), FairLock::Turn::come);
}

// Tickets have 16 bits.
TEST(FairLock, TicketsWrapAround) {
    Node node(1);
    FairLock lock(*node.lock);
    for (int i = 0; i < 70000; ++i) {
        lock.lock_exclusive(*node.lanes[0], shown);
        lock.unlock_exclusive(*node.lanes[0]);
        lock.lock_shared(*node.lanes[0], shown);
        lock.unlock_shared(*node.lanes[0]);
    }
    EXPECT_EQ(node.lock->tickets.load() >> 32 & 0xffff, 140000 & 0xffff);
    uint16_t ticket = 0;
    lock.lock_exclusive(*node.lanes[0], shown);
    EXPECT_FALSE(lock.draw(false, ticket));
}

// While a writer waits no reader that comes later gets in.
TEST(FairLock, NobodyOvertakes) {
    Node node(3);
    FairLock lock(*node.lock);
    std::atomic<int> order{0};
    int writer_was = 0, reader_was = 0;
    const auto tickets = [&] { return node.lock->tickets.load() >> 32 & 0xffff; };
    lock.lock_shared(*node.lanes[0], shown);
    std::thread writer([&] {
        FairLock own(*node.lock);
        own.lock_exclusive(*node.lanes[1], shown);
        writer_was = ++order;
        own.unlock_exclusive(*node.lanes[1]);
    });
    while (tickets() != 2) std::this_thread::yield();
    std::thread reader([&] {
        FairLock own(*node.lock);
        own.lock_shared(*node.lanes[2], shown);
        reader_was = ++order;
        own.unlock_shared(*node.lanes[2]);
    });
    while (tickets() != 3) std::this_thread::yield();
    for (const uint32_t r : {1U, 2U}) // both are asleep
        while (node.segment.block(r).sleepers.load() == 0) std::this_thread::yield();
    EXPECT_EQ(order.load(), 0);
    lock.unlock_shared(*node.lanes[0]);
    writer.join();
    reader.join();
    EXPECT_EQ(writer_was, 1);
    EXPECT_EQ(reader_was, 2);
}

// A rank that waits on behalf of others looks now and then.
TEST(FairLock, TicketsWithoutWaiting) {
    Node node(2);
    FairLock lock(*node.lock);
    Lane& lane = *node.lanes[0];
    uint16_t reader = 0, writer = 0, late_reader = 0;
    EXPECT_TRUE(lock.draw(false, reader));
    EXPECT_FALSE(lock.draw(true, writer));
    EXPECT_FALSE(lock.draw(false, late_reader)); // does not overtake
    EXPECT_EQ(lock.look(lane, true, writer), FairLock::Turn::not_yet);
    EXPECT_EQ(lock.look(lane, false, late_reader), FairLock::Turn::not_yet);
    lock.unlock_shared(lane);
    EXPECT_EQ(lock.look(lane, false, late_reader), FairLock::Turn::not_yet);
    EXPECT_EQ(lock.look(lane, true, writer), FairLock::Turn::come);
    EXPECT_EQ(lock.look(lane, false, late_reader), FairLock::Turn::not_yet);
    lock.unlock_exclusive(lane);
    EXPECT_EQ(lock.look(lane, false, late_reader), FairLock::Turn::come);
    EXPECT_TRUE(lock.draw(false, reader));
    lock.unlock_shared(lane);
    lock.unlock_shared(lane);
    lock.lock_exclusive(*node.lanes[1], shown);
    lock.unlock_exclusive(*node.lanes[1]);
}

// Ranks outnumber CPUs: the turn of one that sleeps is passed by one that runs, but not forever.
TEST(FairLock, ASleeperIsPassedAFewTimes) {
    constexpr int most = 8;
    Node node(3);
    FairLock lock(*node.lock);
    Lane& runs = *node.lanes[0];
    Lane& sleeps = *node.lanes[1];
    uint16_t first = 0, second = 0;
    lock.lock_exclusive(runs, shown);
    EXPECT_FALSE(lock.draw(true, first));
    EXPECT_EQ(lock.look(sleeps, true, first), FairLock::Turn::not_yet); // leaves its name
    lock.unlock_exclusive(runs);
    for (int i = 0; i < most; ++i) {
        lock.lock_exclusive(runs, shown);
        EXPECT_EQ(lock.look(sleeps, true, first), FairLock::Turn::not_yet);
        lock.unlock_exclusive(runs);
    }
    EXPECT_FALSE(lock.draw(false, second)); // a reader does not pass
    std::atomic<bool> inside{false};
    std::thread late([&] {
        FairLock own(*node.lock);
        own.lock_exclusive(*node.lanes[2], shown);
        inside = true;
        own.unlock_exclusive(*node.lanes[2]);
    });
    while (node.segment.block(2).sleepers.load() == 0 && !inside) std::this_thread::yield();
    EXPECT_FALSE(inside.load());
    EXPECT_EQ(lock.look(runs, false, second), FairLock::Turn::not_yet);
    EXPECT_EQ(lock.look(sleeps, true, first), FairLock::Turn::come);
    EXPECT_FALSE(inside.load());
    lock.unlock_exclusive(sleeps);
    EXPECT_EQ(lock.look(runs, false, second), FairLock::Turn::come);
    lock.unlock_shared(runs);
    late.join();
    EXPECT_TRUE(inside.load());
}

TEST(Busy, ExcludesOthers) {
    std::atomic<uint32_t> word{0};
    int64_t counter = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 20000; ++i) {
                const Busy busy(word);
                ++counter;
            }
        });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(counter, 80000);
}

} // namespace
} // namespace zipmpi::proto::rma
