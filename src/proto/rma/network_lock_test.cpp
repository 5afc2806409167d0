// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The network's lock with threads as origins, and the node's share of it step by step.
#include "proto/rma/network_lock.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace zipmpi::proto::rma {
namespace {

// Atomics that are whole among themselves only.
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

    void enter(bool exclusive) {
        ticket = device.add(lock.given);
        while (!read_counts(lock).lets_in(ticket, exclusive)) std::this_thread::yield();
        if (!exclusive) lock.readers.store(ticket + 1);
    }
    void leave(bool exclusive) {
        if (exclusive)
            NodeShare(lock).leave(ticket);
        else
            device.add(lock.writers);
    }
};

TEST(NetworkLock, WritersAreAloneInTheOrderOfTickets) {
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
                const bool exclusive = (i + t) % 3 != 0;
                origin.enter(exclusive);
                EXPECT_EQ(pair[0], pair[1]);
                if (exclusive) {
                    EXPECT_TRUE(last == 0 || origin.ticket > last);
                    last = origin.ticket;
                    ++pair[0];
                    std::this_thread::yield();
                    ++pair[1];
                }
                origin.leave(exclusive);
            }
        });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(pair[0], 4 * rounds * 2 / 3);
    EXPECT_EQ(lock->given, lock->writers);
}

// A writer that leaves is held up between its two stores.
TEST(NetworkLock, NobodyComesInWhileAWriterIsLeaving) {
    for (const auto& [writers, readers] : {std::pair<uint64_t, uint64_t>{1, 0}, {0, 0}}) {
        wire::NetworkLock lock{};
        lock.given = 2;
        lock.writers = writers;
        lock.readers = readers;
        EXPECT_FALSE(read_counts(lock).lets_in(1, true));
        EXPECT_FALSE(read_counts(lock).lets_in(1, false));
    }
}

TEST(NetworkLock, NodeKeepsItAfterTurnsInARow) {
    const auto lock = std::make_unique<wire::NetworkLock>();
    Atomics device;
    NodeShare share(*lock);
    Origin near{*lock, device};
    Origin far{*lock, device};
    const auto turn = [&] {
        near.enter(true);
        const bool kept = share.keep(near.ticket, 3);
        if (!kept) near.leave(true);
        return kept;
    };
    EXPECT_FALSE(turn());
    EXPECT_FALSE(turn());
    far.enter(true); // in between: counted anew
    far.leave(true);
    EXPECT_FALSE(turn());
    EXPECT_FALSE(turn());
    EXPECT_TRUE(turn());
    EXPECT_TRUE(share.keeps());
    EXPECT_FALSE(share.is_awaited());
    far.ticket = device.add(lock->given);
    EXPECT_TRUE(share.is_awaited());
    EXPECT_TRUE(read_counts(*lock).is_kept());
    EXPECT_FALSE(read_counts(*lock).lets_in(far.ticket, true));
    share.give_way();
    EXPECT_TRUE(read_counts(*lock).lets_in(far.ticket, true));
}

TEST(NetworkLock, NodeStaysAsAReaderAmongReaders) {
    const auto lock = std::make_unique<wire::NetworkLock>();
    Atomics device;
    NodeShare share(*lock);
    share.at_start();
    Origin reader{*lock, device};
    Origin writer{*lock, device};
    EXPECT_FALSE(share.is_open());
    share.open();
    EXPECT_TRUE(share.is_open());
    reader.enter(false); // does not wait
    writer.ticket = device.add(lock->given);
    reader.leave(false);
    EXPECT_FALSE(read_counts(*lock).lets_in(writer.ticket, true)); // the node is still in
    EXPECT_TRUE(read_counts(*lock).is_kept());
    share.forget();
    device.add(lock->writers);
    EXPECT_TRUE(read_counts(*lock).lets_in(writer.ticket, true));
}

TEST(NetworkLock, RequestsInARowAreCounted) {
    const auto lock = std::make_unique<wire::NetworkLock>();
    NodeShare share(*lock);
    EXPECT_FALSE(share.note_request(2));
    share.note_node();
    EXPECT_FALSE(share.note_request(2));
    EXPECT_TRUE(share.note_request(2));
}

} // namespace
} // namespace zipmpi::proto::rma
