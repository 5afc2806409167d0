// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Messages with gaps at their sender, whose first part comes with the question: expected or not, into a
// buffer that is long enough or not, cancelled. Two lanes of one segment driven by one thread.
#include "layout/node.hpp"
#include "proto/p2p/test_pair.hpp"
#include "topo/node_places.hpp"

#include <vector>

namespace zipmpi::proto {
namespace {

// So many bytes in blocks with gaps.
struct WithGaps {
    layout::ProgramPtr program;
    std::vector<char> memory;
    size_t block;
    size_t stride;
    size_t bytes;
    explicit WithGaps(size_t wanted, size_t piece = 96)
        : memory((wanted / piece + 1) * (piece + 64))
        , block(piece)
        , stride(piece + 64)
        , bytes(wanted / piece * piece) {
        const auto blocks = static_cast<int64_t>(wanted / block);
        program = layout::compile(
            layout::repeat(layout::run(static_cast<int64_t>(block)), blocks, static_cast<int64_t>(stride)),
            blocks * static_cast<int64_t>(stride));
        for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<char>(i * 7 + i / 251);
    }
    Operation send(Pair& p) {
        Operation op = make_send(p.teams[0], memory.data(), bytes, 1, 5);
        op.layout = program.get();
        op.elements = 1;
        return op;
    }
    Operation recv(Pair& p) {
        Operation op = make_recv(p.teams[1], memory.data(), bytes, 0, 5);
        op.layout = program.get();
        op.elements = 1;
        return op;
    }
    [[nodiscard]] char packed(size_t i) const { return memory[i / block * stride + i % block]; }
};

// In one cell, in a few parts, in many.
constexpr size_t sizes[] = {9600, 40000, 400000};

TEST(Gaps, ArriveWhereverTheReceiveEnds) {
    Pair p;
    for (const size_t size : sizes)
        for (const size_t room : {size_t{0}, size_t{100}, size_t{8192}, size_t{8193}, size, 2 * size})
            for (const bool expected : {true, false}) {
                WithGaps data(size);
                std::vector<char> in(room, 'x');
                Operation send = data.send(p);
                Operation recv = make_recv(p.teams[1], in.data(), room, 0, 5);
                if (expected) p.lanes[1]->start_recv(recv);
                p.lanes[0]->start_send(send);
                if (!expected) {
                    p.settle();
                    p.lanes[1]->start_recv(recv);
                }
                p.settle();
                ASSERT_TRUE(send.done() && recv.done());
                ASSERT_EQ(recv.received, std::min(room, data.bytes));
                ASSERT_EQ(recv.error, room < data.bytes ? Err::truncate : Err::success);
                for (size_t i = 0; i < room; ++i)
                    ASSERT_EQ(in[i], i < data.bytes ? data.packed(i) : 'x')
                        << size << ' ' << room << ' ' << i;
            }
}

TEST(Gaps, AnUnmatchedOneIsTakenBack) {
    Pair p;
    for (const size_t size : {sizes[1], sizes[2]}) {
        WithGaps data(size);
        Operation send = data.send(p);
        p.lanes[0]->start_send(send);
        p.settle();
        const Incoming* waiting = p.lanes[1]->probe(2, 0, 5);
        ASSERT_NE(waiting, nullptr);
        EXPECT_EQ(waiting->bytes, data.bytes) << "a probe tells the length of the whole message";
        p.lanes[0]->cancel(send);
        p.settle();
        EXPECT_TRUE(send.done() && send.cancelled);
        EXPECT_EQ(p.lanes[1]->probe(2, 0, 5), nullptr);
    }
}

constexpr size_t long_piece = 5000;
constexpr size_t long_message = 400000;

uint64_t joint_copies(Pair& p) { return p.lanes[1]->counters().get(Counter::joint_copies); }

TEST(Gaps, LongPiecesAreCopiedWhereTheyLie) {
    Pair p(true);
    std::byte probe{};
    if (!p.lanes[1]->read_peer(0, reinterpret_cast<uint64_t>(&p), &probe, 1))
        GTEST_SKIP() << "the kernel does not allow it here";
    for (const bool expected : {true, false})
        for (const size_t room : {size_t{100}, long_message / 3, long_message, 2 * long_message}) {
            WithGaps data(long_message, long_piece);
            std::vector<char> in(room, 'x');
            Operation send = data.send(p);
            Operation recv = make_recv(p.teams[1], in.data(), room, 0, 5);
            if (expected) p.lanes[1]->start_recv(recv);
            p.lanes[0]->start_send(send);
            p.settle();
            if (!expected) p.lanes[1]->start_recv(recv);
            p.settle();
            ASSERT_TRUE(send.done() && recv.done());
            ASSERT_EQ(recv.error, room < data.bytes ? Err::truncate : Err::success);
            for (size_t i = 0; i < room; ++i)
                ASSERT_EQ(in[i], i < data.bytes ? data.packed(i) : 'x') << room << ' ' << i;
        }
    EXPECT_EQ(joint_copies(p), 6U) << "all but those that were cut to 100 bytes";
}

// A message in one piece, which goes jointly or not as the class of the pair has it.
TEST(Joint, FollowsTheClassOfThePair) {
    Pair p(true);
    std::byte probe{};
    if (!p.lanes[1]->read_peer(0, reinterpret_cast<uint64_t>(&p), &probe, 1))
        GTEST_SKIP() << "the kernel does not allow it here";
    topo::set_place(p.segment, 0, {0, 0, 0, 0, 0, 0});
    topo::set_place(p.segment, 1, {0, 0, 0, 1, 1, 1});
    std::vector<char> out(long_message, 'a'), in(long_message);
    const auto goes_jointly = [&] {
        const uint64_t before = joint_copies(p);
        Operation send = make_send(p.teams[0], out.data(), out.size(), 1, 5);
        Operation recv = make_recv(p.teams[1], in.data(), in.size(), 0, 5);
        p.lanes[1]->start_recv(recv);
        p.lanes[0]->start_send(send);
        p.settle();
        EXPECT_TRUE(send.done() && recv.done());
        return joint_copies(p) > before;
    };
    EXPECT_TRUE(goes_jointly()) << "they share an L3";
    topo::move_place(p.segment, 1, {0, 0, 0, 0, 0, 0});
    topo::announce_moves(p.segment);
    EXPECT_FALSE(goes_jointly()) << "on one core nobody has time to help";
    topo::move_place(p.segment, 1, {1, 1, 1, 1, 1, 1});
    topo::announce_moves(p.segment);
    EXPECT_TRUE(goes_jointly()) << "far apart";
}

TEST(Gaps, BothSidesMayHaveThem) {
    Pair p(true);
    for (const size_t there : {size_t{3000}, size_t{7777}, size_t{96}}) {
        WithGaps data(long_message, long_piece);
        WithGaps in(data.bytes + there, there);
        for (char& c : in.memory) c = 'x';
        Operation send = data.send(p);
        Operation recv = in.recv(p);
        p.lanes[1]->start_recv(recv);
        p.lanes[0]->start_send(send);
        p.settle();
        ASSERT_TRUE(send.done() && recv.done());
        ASSERT_EQ(recv.received, data.bytes);
        for (size_t i = 0; i < data.bytes; ++i) ASSERT_EQ(in.packed(i), data.packed(i)) << there << ' ' << i;
        for (size_t i = in.block; i < in.stride; ++i) ASSERT_EQ(in.memory[i], 'x') << "a gap was written";
    }
}

TEST(Gaps, ADescribedOneIsTakenBackOrDropped) {
    Pair p(true);
    WithGaps data(long_message, long_piece);
    Operation send = data.send(p);
    p.lanes[0]->start_send(send);
    p.settle();
    ASSERT_NE(p.lanes[1]->probe(2, 0, 5), nullptr);
    p.lanes[0]->cancel(send);
    p.settle();
    EXPECT_TRUE(send.done() && send.cancelled);
    EXPECT_EQ(p.lanes[1]->probe(2, 0, 5), nullptr);
    std::vector<char> in(long_message);
    Operation recv = make_recv(p.teams[1], in.data(), in.size(), 0, 5);
    p.lanes[1]->start_recv(recv);
    p.lanes[1]->give_up_recv(recv);
    EXPECT_TRUE(recv.done());
}

// Whatever a peer writes: it is refused, or describes as many bytes as the message has.
TEST(Gaps, NotesThatMakeNoSenseAreRefused) {
    Pair p;
    WithGaps data(long_message, long_piece);
    const Operation send = data.send(p);
    const PlaceNote note(send);
    ASSERT_NE(note.used, 0U);
    PeerPlaces places;
    PeerPlace place;
    place.address = reinterpret_cast<uint64_t>(send.buffer);
    ASSERT_TRUE(places.read(note.data(), note.bytes(), send.bytes, place));
    EXPECT_EQ(place.layout, data.program) << "equal layouts share one program";
    EXPECT_FALSE(places.read(note.data(), note.bytes(), send.bytes + 1, place));
    EXPECT_FALSE(places.read(note.data(), note.bytes() - 1, send.bytes, place));
    EXPECT_FALSE(places.read(note.data(), 0, send.bytes, place));
    EXPECT_FALSE(places.read(note.data(), sizeof note.numbers + 8, send.bytes, place));
    for (size_t i = 0; i < note.used; ++i)
        for (const int64_t odd :
             {INT64_MIN, int64_t{-1}, int64_t{0}, int64_t{3}, int64_t{1} << 47, INT64_MAX}) {
            PlaceNote other(send);
            other.numbers[i] = odd;
            PeerPlace there;
            there.address = reinterpret_cast<uint64_t>(send.buffer);
            if (!places.read(other.data(), other.bytes(), send.bytes, there)) continue;
            uint64_t bytes = 0;
            for (PiecePairs pairs(send, there, 0, send.bytes); pairs.next();) bytes += pairs.bytes();
            EXPECT_EQ(bytes, send.bytes);
        }
    place.address = UINT64_MAX;
    EXPECT_FALSE(places.read(note.data(), note.bytes(), send.bytes, place)) << "beyond all memory";
}

} // namespace
} // namespace zipmpi::proto
