// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks as threads, each with its own progress engine on one node segment.
#include "proto/coll/coll.hpp"
#include "proto/progress/wait.hpp"
#include "proto/team.hpp"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <thread>

namespace zipmpi::proto {
namespace {

void run_ranks(int n, const std::function<void(Team&)>& body) {
    segment::NodeSegment segment;
    Diagnostic why;
    std::vector<int> world(static_cast<size_t>(n));
    std::iota(world.begin(), world.end(), 0);
    ASSERT_TRUE(segment::NodeSegment::make("test", world, n, segment, why)) << format(why);
    std::vector<std::thread> threads;
    for (int r = 0; r < n; ++r)
        threads.emplace_back([&, r] {
            ProgressEngine engine(segment, static_cast<uint32_t>(r), r);
            Team team{&engine, 2, r, n, RankMap(0), 0};
            body(team);
            wait_until(
                engine, [&] { return engine.drained(); }, wait_info_of(Operation{}));
        });
    for (auto& t : threads) t.join();
    for (int r = 0; r < n; ++r)
        EXPECT_EQ(segment.block(static_cast<uint32_t>(r)).counters.get(Counter::missed_wakeups), 0U);
}

void send(Team& t, const void* p, size_t n, int to, int tag, bool synchronous = false) {
    Operation op = make_send(t, p, n, to, tag);
    op.synchronous = synchronous;
    t.engine->start_send(op);
    wait_for(*t.engine, op);
    EXPECT_EQ(op.error, Err::success);
}

Operation recv(Team& t, void* p, size_t n, int from, int tag) {
    Operation op = make_recv(t, p, n, from, tag);
    t.engine->start_recv(op);
    wait_for(*t.engine, op);
    return op;
}

std::vector<uint8_t> pattern(size_t n, uint32_t seed) {
    std::vector<uint8_t> v(n);
    std::mt19937 random(seed);
    for (auto& b : v) b = static_cast<uint8_t>(random());
    return v;
}

TEST(P2p, AllSizesArriveIntact) {
    run_ranks(2, [](Team& t) {
        for (const size_t n : {0, 1, 40, 41, 4000, 32704, 32705, 65536, 1000000, 9000001}) {
            const auto expected = pattern(n, static_cast<uint32_t>(n));
            if (t.rank == 0) {
                send(t, expected.data(), n, 1, 3);
                continue;
            }
            std::vector<uint8_t> got(n + 1, 0xee);
            const Operation op = recv(t, got.data(), n, 0, 3);
            EXPECT_EQ(op.received, n);
            EXPECT_EQ(got[n], 0xee);
            got.pop_back();
            EXPECT_TRUE(got == expected) << n;
        }
    });
}

TEST(P2p, WildcardsAndOrder) {
    run_ranks(3, [](Team& t) {
        constexpr int rounds = 2000;
        if (t.rank != 0) {
            for (int i = 0; i < rounds; ++i) {
                const int value = t.rank * 100000 + i;
                send(t, &value, sizeof value, 0, i % 5);
            }
            return;
        }
        int next[3] = {0, 0, 0};
        for (int i = 0; i < 2 * rounds; ++i) {
            int value = 0;
            const Operation op = recv(t, &value, sizeof value, any_source, any_tag);
            const int from = op.matched_source;
            EXPECT_EQ(value, from * 100000 + next[from]);
            EXPECT_EQ(op.matched_tag, next[from] % 5);
            ++next[from];
        }
    });
}

TEST(P2p, TagsAreReceivedOutOfOrder) {
    run_ranks(2, [](Team& t) {
        if (t.rank == 0) {
            for (int tag = 0; tag < 50; ++tag) send(t, &tag, sizeof tag, 1, tag);
        } else {
            for (int tag = 49; tag >= 0; --tag) {
                int value = -1;
                recv(t, &value, sizeof value, 0, tag);
                EXPECT_EQ(value, tag);
            }
        }
    });
}

TEST(P2p, TruncationIsReportedAndHarmless) {
    run_ranks(2, [](Team& t) {
        const auto data = pattern(200000, 1);
        for (const size_t n : {10, 1000, 200000}) {
            if (t.rank == 0) {
                send(t, data.data(), n, 1, 1);
                send(t, nullptr, 0, 1, 9);
                continue;
            }
            std::vector<uint8_t> small(6, 0xee);
            const Operation op = recv(t, small.data(), 5, 0, 1);
            EXPECT_EQ(op.error, Err::truncate);
            EXPECT_EQ(op.received, 5U);
            EXPECT_TRUE(std::equal(data.begin(), data.begin() + 5, small.begin()));
            EXPECT_EQ(small[5], 0xee);
            const Operation none = recv(t, nullptr, 0, 0, 9);
            EXPECT_EQ(none.error, Err::success);
        }
    });
}

TEST(P2p, SynchronousSendWaitsForItsReceive) {
    run_ranks(2, [](Team& t) {
        const int first = 5, second = 6;
        if (t.rank == 0) {
            Operation op = make_send(t, &first, sizeof first, 1, 1);
            op.synchronous = true;
            t.engine->start_send(op);
            for (int i = 0; i < 1000; ++i) t.engine->progress();
            EXPECT_FALSE(op.done());
            send(t, &second, sizeof second, 1, 2);
            wait_for(*t.engine, op);
        } else {
            int value = 0;
            recv(t, &value, sizeof value, 0, 2);
            EXPECT_EQ(value, second);
            recv(t, &value, sizeof value, 0, 1);
            EXPECT_EQ(value, first);
        }
    });
}

TEST(P2p, MessagesToSelf) {
    run_ranks(1, [](Team& t) {
        for (const size_t n : {0, 8, 1000, 1000000}) {
            const auto data = pattern(n, 3);
            std::vector<uint8_t> got(n);
            Operation s = make_send(t, data.data(), n, 0, 4);
            s.synchronous = n == 8;
            t.engine->start_send(s);
            EXPECT_EQ(s.done(), n <= 1000 && n != 8);
            const IncomingMessage* found = t.engine->probe(t.context, any_source, any_tag);
            EXPECT_TRUE(found != nullptr && found->bytes == n);
            recv(t, got.data(), n, 0, 4);
            EXPECT_TRUE(s.done());
            EXPECT_TRUE(got == data);
        }
    });
}

TEST(P2p, ManyConcurrentLargeMessages) {
    run_ranks(4, [](Team& t) {
        constexpr int each = 12;
        constexpr size_t n = 150000;
        std::vector<std::vector<uint8_t>> out;
        std::vector<std::vector<uint8_t>> in;
        std::vector<Operation> ops(2 * 4 * each);
        for (int k = 0; k < 4 * each; ++k) {
            out.push_back(pattern(n, static_cast<uint32_t>(t.rank * 1000 + k)));
            in.emplace_back(n);
        }
        for (int k = 0; k < 4 * each; ++k) {
            auto& r = ops[static_cast<size_t>(2 * k)];
            auto& s = ops[static_cast<size_t>(2 * k + 1)];
            r = make_recv(t, in[static_cast<size_t>(k)].data(), n, k % 4, k);
            s = make_send(t, out[static_cast<size_t>(k)].data(), n, k % 4, k);
            if (k % 4 != t.rank) {
                r.tag = s.tag = k - k % 4; // the tag identifies the round, which is equal at the peer
            }
            t.engine->start_recv(r);
            t.engine->start_send(s);
        }
        for (auto& op : ops) wait_for(*t.engine, op);
        for (int k = 0; k < 4 * each; ++k) {
            const int from = k % 4;
            const int peer_k = from == t.rank ? k : k - k % 4 + t.rank;
            EXPECT_TRUE(in[static_cast<size_t>(k)] ==
                        pattern(n, static_cast<uint32_t>(from * 1000 + peer_k)));
        }
    });
}

void sum(const void* in, void* inout, int64_t count) {
    for (int64_t i = 0; i < count; ++i) static_cast<int64_t*>(inout)[i] += static_cast<const int64_t*>(in)[i];
}

// The blocks of all ranks; all values are distinct.
std::vector<int64_t> blocks(int ranks, int64_t n, int64_t factor) {
    std::vector<int64_t> all(static_cast<size_t>(ranks * n));
    std::iota(all.begin(), all.end(), 1);
    for (auto& x : all) x *= factor;
    return all;
}

void gather_and_scatter(Team& t, int64_t n, int root) {
    const size_t bytes = static_cast<size_t>(n) * sizeof(int64_t);
    const auto block_of = [&](const std::vector<int64_t>& all) {
        return std::vector<int64_t>(all.begin() + t.rank * n, all.begin() + (t.rank + 1) * n);
    };
    const std::vector<int64_t> expected = blocks(t.size, n, 3);
    std::vector<int64_t> all(expected.size(), -1);
    std::vector<int64_t> own = block_of(expected);
    if (t.rank == root) std::copy(own.begin(), own.end(), all.begin() + root * n); // in place
    EXPECT_EQ(coll::gather(t, own.data(), all.data(), bytes, root), Err::success);
    if (t.rank == root) {
        EXPECT_TRUE(all == expected) << n << " from each of " << t.size << " to " << root;
    }
    all = blocks(t.size, n, 5);
    if (t.rank == root) own = block_of(all);
    EXPECT_EQ(coll::scatter(t, t.rank == root ? all.data() : nullptr, own.data(), bytes, root), Err::success);
    EXPECT_TRUE(own == block_of(all)) << n << " to each of " << t.size << " from " << root;
}

// Values of a rank: those of two ranks, and those of two positions, differ.
std::vector<int64_t> values(int64_t n, int rank) {
    std::vector<int64_t> v(static_cast<size_t>(n));
    std::iota(v.begin(), v.end(), (rank + 1) * 100000);
    return v;
}

// The sum of the values of all ranks.
std::vector<int64_t> total(int64_t n, int ranks) {
    std::vector<int64_t> v(static_cast<size_t>(n));
    for (int r = 0; r < ranks; ++r) {
        const std::vector<int64_t> term = values(n, r);
        sum(term.data(), v.data(), n);
    }
    return v;
}

void broadcast_and_reduce(Team& t, int64_t n, int root) {
    const size_t bytes = static_cast<size_t>(n) * sizeof(int64_t);
    std::vector<int64_t> v =
        t.rank == root ? values(n, root) : std::vector<int64_t>(static_cast<size_t>(n), -1);
    EXPECT_EQ(coll::broadcast(t, v.data(), bytes, root), Err::success);
    EXPECT_TRUE(v == values(n, root)) << n << " from " << root << " to " << t.rank << " of " << t.size;
    v = values(n, t.rank);
    EXPECT_EQ(coll::reduce(t, v.data(), {sum, n, sizeof(int64_t)}, root), Err::success);
    if (t.rank == root) {
        EXPECT_TRUE(v == total(n, t.size)) << n << " from " << t.size << " to " << root;
    }
}

// Allgather, then alltoall: block r of rank s becomes block s of rank r.
void exchange_blocks(Team& t, int64_t n) {
    const size_t bytes = static_cast<size_t>(n) * sizeof(int64_t);
    const std::vector<int64_t> expected = blocks(t.size, n, 3);
    std::vector<int64_t> all(expected.size(), -1);
    std::copy_n(expected.begin() + t.rank * n, n, all.begin() + t.rank * n); // in place
    EXPECT_EQ(coll::allgather(t, all.data(), bytes), Err::success);
    EXPECT_TRUE(all == expected) << n << " of each of " << t.size << " at " << t.rank;

    const std::vector<int64_t> out = blocks(t.size, n, t.rank + 1);
    EXPECT_EQ(coll::alltoall(t, out.data(), all.data(), bytes), Err::success);
    for (int from = 0; from < t.size; ++from) {
        const std::vector<int64_t> sent = blocks(t.size, n, from + 1);
        EXPECT_TRUE(
            std::equal(all.begin() + from * n, all.begin() + (from + 1) * n, sent.begin() + t.rank * n))
            << n << " from " << from << " to " << t.rank << " of " << t.size;
    }
}

class CollTest : public ::testing::TestWithParam<int> {};

TEST_P(CollTest, ResultsAreCorrect) {
    run_ranks(GetParam(), [](Team& t) {
        for (const int64_t n : {1, 7, 20000}) {
            EXPECT_EQ(coll::barrier(t), Err::success);
            for (int root = 0; root < t.size; ++root) broadcast_and_reduce(t, n, root);
            std::vector<int64_t> v = values(n, t.rank);
            EXPECT_EQ(coll::allreduce(t, v.data(), {sum, n, sizeof(int64_t)}), Err::success);
            EXPECT_TRUE(v == total(n, t.size)) << n << " at " << t.rank << " of " << t.size;
            exchange_blocks(t, n);
            for (const int root : {0, t.size - 1}) gather_and_scatter(t, n, root);
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Ranks, CollTest, ::testing::Values(1, 2, 3, 4, 5, 8, 13));

TEST(OperationTable, StaleAndInventedIdsFindNothing) {
    OperationTable table;
    Operation a;
    Operation b;
    const auto first = table.add(a);
    EXPECT_EQ(table.find(first), &a);
    table.remove(a);
    EXPECT_EQ(table.find(first), nullptr);
    const auto second = table.add(b);
    EXPECT_NE(first, second);
    EXPECT_EQ(table.find(second), &b);
    EXPECT_EQ(table.find(0), nullptr);
    EXPECT_EQ(table.find(0xffffffff), nullptr);
}

} // namespace
} // namespace zipmpi::proto
