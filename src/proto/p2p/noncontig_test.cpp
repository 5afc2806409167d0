// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Noncontiguous sends, whose rts carries the first fragment or the layout: expected or unexpected, into
// buffers that are large enough or not, and canceled. Two engines of one node segment driven by one thread.
#include "hwtopo/node_locality.hpp"
#include "packing/layout_node.hpp"
#include "proto/p2p/test_engine_pair.hpp"

#include <vector>

namespace zipmpi::proto {
namespace {

// Noncontiguous data of up to `wanted` bytes, in blocks with 64 bytes between them.
struct NoncontigData {
    packing::LayoutPtr program;
    std::vector<char> memory;
    size_t block;
    size_t stride;
    size_t bytes;
    explicit NoncontigData(size_t wanted, size_t segment_bytes = 96)
        : memory((wanted / segment_bytes + 1) * (segment_bytes + 64))
        , block(segment_bytes)
        , stride(segment_bytes + 64)
        , bytes(wanted / segment_bytes * segment_bytes) {
        const auto blocks = static_cast<int64_t>(wanted / block);
        program = packing::compile(
            packing::repeat(packing::run(static_cast<int64_t>(block)), blocks, static_cast<int64_t>(stride)),
            blocks * static_cast<int64_t>(stride));
        for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<char>(i * 7 + i / 251);
    }
    Operation send(EnginePair& p) {
        Operation op = make_send(p.teams[0], memory.data(), bytes, 1, 5);
        op.layout = program.get();
        op.elements = 1;
        return op;
    }
    Operation recv(EnginePair& p) {
        Operation op = make_recv(p.teams[1], memory.data(), bytes, 0, 5);
        op.layout = program.get();
        op.elements = 1;
        return op;
    }
    [[nodiscard]] char packed(size_t i) const { return memory[i / block * stride + i % block]; }
};

// One cell, a few fragments, many fragments.
constexpr size_t sizes[] = {9600, 40000, 400000};

TEST(Noncontig, ArrivesInBuffersOfAnySize) {
    EnginePair p;
    for (const size_t size : sizes)
        for (const size_t capacity : {size_t{0}, size_t{100}, size_t{8192}, size_t{8193}, size, 2 * size})
            for (const bool expected : {true, false}) {
                NoncontigData data(size);
                std::vector<char> in(capacity, 'x');
                Operation send = data.send(p);
                Operation recv = make_recv(p.teams[1], in.data(), capacity, 0, 5);
                if (expected) p.engines[1]->start_recv(recv);
                p.engines[0]->start_send(send);
                if (!expected) {
                    p.progress_until_idle();
                    p.engines[1]->start_recv(recv);
                }
                p.progress_until_idle();
                ASSERT_TRUE(send.done() && recv.done());
                ASSERT_EQ(recv.received, std::min(capacity, data.bytes));
                ASSERT_EQ(recv.error, capacity < data.bytes ? Err::truncate : Err::success);
                for (size_t i = 0; i < capacity; ++i)
                    ASSERT_EQ(in[i], i < data.bytes ? data.packed(i) : 'x')
                        << size << ' ' << capacity << ' ' << i;
            }
}

TEST(Noncontig, UnmatchedSendIsCancelled) {
    EnginePair p;
    for (const size_t size : {sizes[1], sizes[2]}) {
        NoncontigData data(size);
        Operation send = data.send(p);
        p.engines[0]->start_send(send);
        p.progress_until_idle();
        const IncomingMessage* found = p.engines[1]->probe(2, 0, 5);
        ASSERT_NE(found, nullptr);
        EXPECT_EQ(found->bytes, data.bytes) << "a probe returns the size of the whole message";
        p.engines[0]->cancel(send);
        p.progress_until_idle();
        EXPECT_TRUE(send.done() && send.cancelled);
        EXPECT_EQ(p.engines[1]->probe(2, 0, 5), nullptr);
    }
}

constexpr size_t long_segment = 5000;
constexpr size_t long_message = 400000;

uint64_t coop_copies(EnginePair& p) { return p.engines[1]->counters().get(Counter::coop_copies); }

TEST(Noncontig, LongSegmentsAreCopiedByCma) {
    EnginePair p(true);
    std::byte probe{};
    if (!p.engines[1]->cma().read(0, reinterpret_cast<uint64_t>(&p), &probe, 1))
        GTEST_SKIP() << "CMA is not permitted here";
    for (const bool expected : {true, false})
        for (const size_t capacity : {size_t{100}, long_message / 3, long_message, 2 * long_message}) {
            NoncontigData data(long_message, long_segment);
            std::vector<char> in(capacity, 'x');
            Operation send = data.send(p);
            Operation recv = make_recv(p.teams[1], in.data(), capacity, 0, 5);
            if (expected) p.engines[1]->start_recv(recv);
            p.engines[0]->start_send(send);
            p.progress_until_idle();
            if (!expected) p.engines[1]->start_recv(recv);
            p.progress_until_idle();
            ASSERT_TRUE(send.done() && recv.done());
            ASSERT_EQ(recv.error, capacity < data.bytes ? Err::truncate : Err::success);
            for (size_t i = 0; i < capacity; ++i)
                ASSERT_EQ(in[i], i < data.bytes ? data.packed(i) : 'x') << capacity << ' ' << i;
        }
    EXPECT_EQ(coop_copies(p), 6U) << "all but those truncated to 100 bytes";
}

// The class of the pair decides whether a contiguous message is copied cooperatively.
TEST(CoopCopy, FollowsTheClassOfThePair) {
    EnginePair p(true);
    std::byte probe{};
    if (!p.engines[1]->cma().read(0, reinterpret_cast<uint64_t>(&p), &probe, 1))
        GTEST_SKIP() << "CMA is not permitted here";
    hwtopo::set_locality(p.segment, 0, {0, 0, 0, 0, 0, 0});
    hwtopo::set_locality(p.segment, 1, {0, 0, 0, 1, 1, 1});
    std::vector<char> out(long_message, 'a'), in(long_message);
    const auto uses_coop_copy = [&] {
        const uint64_t before = coop_copies(p);
        Operation send = make_send(p.teams[0], out.data(), out.size(), 1, 5);
        Operation recv = make_recv(p.teams[1], in.data(), in.size(), 0, 5);
        p.engines[1]->start_recv(recv);
        p.engines[0]->start_send(send);
        p.progress_until_idle();
        EXPECT_TRUE(send.done() && recv.done());
        return coop_copies(p) > before;
    };
    EXPECT_TRUE(uses_coop_copy()) << "they share an L3";
    hwtopo::update_locality(p.segment, 1, {0, 0, 0, 0, 0, 0});
    hwtopo::publish_rebinds(p.segment);
    EXPECT_FALSE(uses_coop_copy()) << "one core cannot copy concurrently";
    hwtopo::update_locality(p.segment, 1, {1, 1, 1, 1, 1, 1});
    hwtopo::publish_rebinds(p.segment);
    EXPECT_TRUE(uses_coop_copy()) << "different NUMA nodes";
}

TEST(Noncontig, BothSides) {
    EnginePair p(true);
    for (const size_t there : {size_t{3000}, size_t{7777}, size_t{96}}) {
        NoncontigData data(long_message, long_segment);
        NoncontigData in(data.bytes + there, there);
        for (char& c : in.memory) c = 'x';
        Operation send = data.send(p);
        Operation recv = in.recv(p);
        p.engines[1]->start_recv(recv);
        p.engines[0]->start_send(send);
        p.progress_until_idle();
        ASSERT_TRUE(send.done() && recv.done());
        ASSERT_EQ(recv.received, data.bytes);
        for (size_t i = 0; i < data.bytes; ++i) ASSERT_EQ(in.packed(i), data.packed(i)) << there << ' ' << i;
        for (size_t i = in.block; i < in.stride; ++i)
            ASSERT_EQ(in.memory[i], 'x') << "written between two blocks";
    }
}

TEST(Noncontig, SendWithLayoutIsCancelledOrAbandoned) {
    EnginePair p(true);
    NoncontigData data(long_message, long_segment);
    Operation send = data.send(p);
    p.engines[0]->start_send(send);
    p.progress_until_idle();
    ASSERT_NE(p.engines[1]->probe(2, 0, 5), nullptr);
    p.engines[0]->cancel(send);
    p.progress_until_idle();
    EXPECT_TRUE(send.done() && send.cancelled);
    EXPECT_EQ(p.engines[1]->probe(2, 0, 5), nullptr);
    std::vector<char> in(long_message);
    Operation recv = make_recv(p.teams[1], in.data(), in.size(), 0, 5);
    p.engines[1]->start_recv(recv);
    p.engines[1]->abandon_recv(recv);
    EXPECT_TRUE(recv.done());
}

// A record from a peer is rejected or describes exactly the bytes of the message.
TEST(Noncontig, InvalidLayoutRecordsAreRejected) {
    EnginePair p;
    NoncontigData data(long_message, long_segment);
    const Operation send = data.send(p);
    const LayoutRecord record(send);
    ASSERT_NE(record.used, 0U);
    LayoutCache cache;
    RemoteBuffer buffer;
    buffer.address = reinterpret_cast<uint64_t>(send.buffer);
    ASSERT_TRUE(cache.read(record.data(), record.bytes(), send.bytes, buffer));
    EXPECT_EQ(buffer.layout, data.program) << "equal layouts are compiled once";
    EXPECT_FALSE(cache.read(record.data(), record.bytes(), send.bytes + 1, buffer));
    EXPECT_FALSE(cache.read(record.data(), record.bytes() - 1, send.bytes, buffer));
    EXPECT_FALSE(cache.read(record.data(), 0, send.bytes, buffer));
    EXPECT_FALSE(cache.read(record.data(), sizeof record.numbers + 8, send.bytes, buffer));
    for (size_t i = 0; i < record.used; ++i)
        for (const int64_t odd :
             {INT64_MIN, int64_t{-1}, int64_t{0}, int64_t{3}, int64_t{1} << 47, INT64_MAX}) {
            LayoutRecord other(send);
            other.numbers[i] = odd;
            RemoteBuffer there;
            there.address = reinterpret_cast<uint64_t>(send.buffer);
            if (!cache.read(other.data(), other.bytes(), send.bytes, there)) continue;
            uint64_t bytes = 0;
            for (IovPairs pairs(send, there, 0, send.bytes); pairs.next();) bytes += pairs.bytes();
            EXPECT_EQ(bytes, send.bytes);
        }
    buffer.address = UINT64_MAX;
    EXPECT_FALSE(cache.read(record.data(), record.bytes(), send.bytes, buffer)) << "above any user address";
}

} // namespace
} // namespace zipmpi::proto
