// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The network lock with threads as origins, and the node side of a hybrid lock step by step.
#include "proto/rma/network_lock.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace zipmpi::proto::rma {
namespace {

// Emulates RDMA atomics that are atomic only with respect to each other.
class Atomics {
  public:
    uint64_t add(std::atomic<uint64_t>& word) {
        const std::lock_guard guard(mutex_);
        const uint64_t before = word.load();
        std::this_thread::yield();
        word.store(before + 1);
        return before;
    }

  private:
    std::mutex mutex_;
};

struct Origin {
    wire::NetworkLock& lock;
    Atomics& device;
    uint64_t ticket = 0;

    void enter(LockMode mode) {
        ticket = device.add(lock.tickets_issued);
        while (!read_lock_state(lock).can_enter(ticket, mode)) std::this_thread::yield();
        if (mode == LockMode::shared) lock.readers.store(ticket + 1);
    }
    void leave(LockMode mode) {
        if (mode == LockMode::exclusive)
            HybridLockNode(lock).release(ticket);
        else
            device.add(lock.writers);
    }
};

TEST(NetworkLock, WritersExcludeInTicketOrder) {
    const auto lock = std::make_unique<wire::NetworkLock>();
    Atomics device;
    int64_t pair[2] = {0, 0}; // changed by writers only
    uint64_t last = 0;
    constexpr int rounds = 300;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            Origin origin{*lock, device};
            for (int i = 0; i < rounds; ++i) {
                const LockMode mode = (i + t) % 3 != 0 ? LockMode::exclusive : LockMode::shared;
                origin.enter(mode);
                EXPECT_EQ(pair[0], pair[1]);
                if (mode == LockMode::exclusive) {
                    EXPECT_TRUE(last == 0 || origin.ticket > last);
                    last = origin.ticket;
                    ++pair[0];
                    std::this_thread::yield();
                    ++pair[1];
                }
                origin.leave(mode);
            }
        });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(pair[0], 4 * rounds * 2 / 3);
    EXPECT_EQ(lock->tickets_issued, lock->writers);
}

// State between the two stores of a leaving writer.
TEST(NetworkLock, NoEntryWhileWriterLeaves) {
    for (const auto& [writers, readers] : {std::pair<uint64_t, uint64_t>{1, 0}, {0, 0}}) {
        wire::NetworkLock lock{};
        lock.tickets_issued = 2;
        lock.writers = writers;
        lock.readers = readers;
        EXPECT_FALSE(read_lock_state(lock).can_enter(1, LockMode::exclusive));
        EXPECT_FALSE(read_lock_state(lock).can_enter(1, LockMode::shared));
    }
}

TEST(NetworkLock, NodeHoldsAfterConsecutiveTurns) {
    const auto lock = std::make_unique<wire::NetworkLock>();
    Atomics device;
    HybridLockNode node_lock(*lock);
    Origin local{*lock, device};
    Origin remote{*lock, device};
    const auto turn = [&] {
        local.enter(LockMode::exclusive);
        const bool kept = node_lock.try_hold(local.ticket, 3);
        if (!kept) local.leave(LockMode::exclusive);
        return kept;
    };
    EXPECT_FALSE(turn());
    EXPECT_FALSE(turn());
    remote.enter(LockMode::exclusive); // resets the count
    remote.leave(LockMode::exclusive);
    EXPECT_FALSE(turn());
    EXPECT_FALSE(turn());
    EXPECT_TRUE(turn());
    EXPECT_TRUE(node_lock.holds());
    EXPECT_FALSE(node_lock.has_waiters());
    remote.ticket = device.add(lock->tickets_issued);
    EXPECT_TRUE(node_lock.has_waiters());
    EXPECT_TRUE(read_lock_state(*lock).is_node_held());
    EXPECT_FALSE(read_lock_state(*lock).can_enter(remote.ticket, LockMode::exclusive));
    node_lock.yield();
    EXPECT_TRUE(read_lock_state(*lock).can_enter(remote.ticket, LockMode::exclusive));
}

TEST(NetworkLock, NodeRemainsReader) {
    const auto lock = std::make_unique<wire::NetworkLock>();
    Atomics device;
    HybridLockNode node_lock(*lock);
    node_lock.init();
    Origin reader{*lock, device};
    Origin writer{*lock, device};
    EXPECT_FALSE(node_lock.is_open_to_readers());
    node_lock.open_to_readers();
    EXPECT_TRUE(node_lock.is_open_to_readers());
    reader.enter(LockMode::shared); // does not wait
    writer.ticket = device.add(lock->tickets_issued);
    reader.leave(LockMode::shared);
    EXPECT_FALSE(
        read_lock_state(*lock).can_enter(writer.ticket, LockMode::exclusive)); // the node is still a reader
    EXPECT_TRUE(read_lock_state(*lock).is_node_held());
    node_lock.clear_node_ticket();
    device.add(lock->writers);
    EXPECT_TRUE(read_lock_state(*lock).can_enter(writer.ticket, LockMode::exclusive));
}

TEST(NetworkLock, CountsConsecutiveRequests) {
    const auto lock = std::make_unique<wire::NetworkLock>();
    HybridLockNode node_lock(*lock);
    EXPECT_FALSE(node_lock.count_request(2));
    node_lock.reset_request_count();
    EXPECT_FALSE(node_lock.count_request(2));
    EXPECT_TRUE(node_lock.count_request(2));
}

} // namespace
} // namespace zipmpi::proto::rma
