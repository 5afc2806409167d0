// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Messages with gaps at their sender, whose first part comes with the question: expected or not, into a
// buffer that is long enough or not, cancelled. Two lanes of one segment driven by one thread.
#include "layout/node.hpp"
#include "proto/team.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace zipmpi::proto {
namespace {

struct Pair {
    boot::NodeSegment segment;
    std::unique_ptr<Lane> lanes[2];
    Team teams[2];
    Pair() {
        Problem why;
        EXPECT_TRUE(boot::NodeSegment::make("test", {0, 1}, 2, segment, why)) << format(why);
        for (int r = 0; r < 2; ++r) {
            lanes[r] = std::make_unique<Lane>(segment, static_cast<uint32_t>(r), r);
            teams[r] = Team{lanes[r].get(), 2, r, 2, RankMap(0), 0};
        }
    }
    void settle() {
        while (lanes[0]->progress() + lanes[1]->progress() > 0) {
        }
    }
};

constexpr size_t block = 96;
constexpr size_t stride = 160;

// So many bytes in blocks with gaps.
struct WithGaps {
    layout::ProgramPtr program;
    std::vector<char> memory;
    size_t bytes;
    explicit WithGaps(size_t wanted)
        : memory((wanted / block + 1) * stride)
        , bytes(wanted / block * block) {
        const auto blocks = static_cast<int64_t>(wanted / block);
        program = layout::compile(layout::repeat(layout::run(block), blocks, stride), blocks * stride);
        for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<char>(i * 7 + i / 251);
    }
    Operation send(Pair& p) {
        Operation op = make_send(p.teams[0], memory.data(), bytes, 1, 5);
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

} // namespace
} // namespace zipmpi::proto
