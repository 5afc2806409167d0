// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ucx/stream.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <sys/socket.h>

namespace zipmpi::transport::ucx {
namespace {

using Bytes = std::vector<std::byte>;

Bytes frame_of(wire::FrameType type, size_t data, uint64_t sequence) {
    const size_t head =
        sizeof(wire::Frame) + (type == wire::FrameType::message ? sizeof(wire::MessageHead) : 0);
    Bytes bytes(head + data);
    wire::Frame f{};
    f.magic = wire::frame_magic;
    f.type = type;
    f.sequence = sequence;
    f.bytes = static_cast<uint32_t>(bytes.size() - sizeof f);
    std::memcpy(bytes.data(), &f, sizeof f);
    for (size_t i = head; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 31 + sequence);
    return bytes;
}

// Two ends of one connection.
class Streams : public testing::Test {
  protected:
    Streams() {
        int ends[2];
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
        const int small = 16 << 10;
        setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
        const Stream::User user{
            this,
            [](void* self, std::span<const std::byte>, size_t bytes) -> std::byte* {
                Bytes& wanted = static_cast<Streams*>(self)->memory;
                return bytes <= wanted.size() ? wanted.data() : nullptr;
            },
            [](void* self, std::span<const std::byte> head, std::span<const std::byte> data, Room*) {
                Bytes whole(head.begin(), head.end());
                whole.insert(whole.end(), data.begin(), data.end());
                auto& test = *static_cast<Streams*>(self);
                test.placed += !data.empty() && data.data() == test.memory.data() ? 1 : 0;
                test.came.push_back(std::move(whole));
                return false;
            },
            [](void* self, void*) { ++static_cast<Streams*>(self)->left; }};
        from = std::make_unique<Stream>(os::Fd(ends[0]), rooms, user);
        to = std::make_unique<Stream>(os::Fd(ends[1]), rooms, user);
    }
    void send(const Bytes& frame, bool gathers = false) {
        const size_t head = std::min<size_t>(frame.size(), 100);
        const std::span all(frame);
        if (gathers)
            from->gather(all.first(head), all.subspan(head));
        else
            under_way += from->send(all.first(head), all.subspan(head), this) == Posted::under_way ? 1 : 0;
    }
    void pass_all() {
        for (int i = 0; i < 10000 && (from->has_out() || from->gathered() != 0); ++i) {
            EXPECT_TRUE(from->flush() && from->write());
            EXPECT_GE(to->read(), 0);
        }
        for (int i = 0; i < 100; ++i) EXPECT_GE(to->read(), 0);
    }
    Rooms rooms;
    Bytes memory;
    int placed = 0, left = 0, under_way = 0;
    std::vector<Bytes> came;
    std::unique_ptr<Stream> from, to;
};

TEST_F(Streams, FramesOfAllLengthsComeWholeAndInOrder) {
    std::mt19937 random(1);
    std::vector<Bytes> sent;
    for (uint64_t i = 0; i < 400; ++i) {
        const size_t lengths[] = {0, random() % 200, random() % 5000, random() % wire::frame_chunk,
                                  wire::frame_chunk};
        const auto type = random() % 2 == 0 ? wire::FrameType::message : wire::FrameType::chunk;
        sent.push_back(frame_of(type, lengths[random() % 5], i));
    }
    for (const Bytes& frame : sent) {
        send(frame, frame.size() < 2000 && random() % 2 == 0);
        EXPECT_GE(random() % 3 == 0 ? to->read() : 0, 0);
        EXPECT_TRUE(random() % 3 != 0 || from->write());
    }
    pass_all();
    EXPECT_TRUE(came == sent);
    EXPECT_EQ(left, under_way);
    EXPECT_GT(under_way, 0);
}

TEST_F(Streams, DataIsReadToWhereItIsWanted) {
    memory.resize(wire::frame_chunk);
    const Bytes frame = frame_of(wire::FrameType::chunk, wire::frame_chunk, 7);
    send(frame);
    pass_all();
    ASSERT_EQ(came.size(), 1U);
    EXPECT_EQ(came[0], frame);
    EXPECT_EQ(placed, 1);
}

TEST_F(Streams, MemoryThatWasWithdrawnIsNotWrittenTo) {
    memory.resize(wire::frame_chunk);
    const Bytes frame = frame_of(wire::FrameType::chunk, wire::frame_chunk, 7);
    const Bytes next = frame_of(wire::FrameType::chunk, 10, 8);
    send(frame);
    EXPECT_EQ(to->read(), 0); // a part of it
    to->withdraw(memory);
    const Bytes before(memory.size(), std::byte{42});
    memory = before;
    send(next);
    pass_all();
    EXPECT_EQ(memory, before);
    ASSERT_EQ(came.size(), 1U);
    EXPECT_EQ(came[0], next);
}

TEST_F(Streams, WhatIsNoFrameEndsTheConnection) {
    Bytes frame = frame_of(wire::FrameType::chunk, 10, 1);
    frame[0] = std::byte{0};
    send(frame);
    EXPECT_EQ(to->read(), -1);
}

TEST_F(Streams, TheEndIsNoticedAndWhatWasUnderWayIsGivenUp) {
    const Bytes frame = frame_of(wire::FrameType::chunk, wire::frame_chunk, 1);
    for (int i = 0; i < 8; ++i) send(frame);
    EXPECT_GT(under_way, 0);
    from.reset();
    EXPECT_EQ(left, under_way);
    int last = 0;
    for (int i = 0; i < 100 && last >= 0; ++i) last = to->read();
    EXPECT_EQ(last, -1);
}

// What a gateway does: `in` reads from `from`, and `out` sends to `to`.
class Passing : public testing::Test {
  protected:
    Passing() {
        int before[2];
        int behind[2];
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, before), 0);
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, behind), 0);
        const int small = 48 << 10;
        for (const int fd : {before[0], behind[0]})
            setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
        Stream::User user{};
        user.subject = this;
        user.frame = [](void* self, std::span<const std::byte> head, std::span<const std::byte> data, Room*) {
            Bytes whole(head.begin(), head.end());
            whole.insert(whole.end(), data.begin(), data.end());
            static_cast<Passing*>(self)->came.push_back(std::move(whole));
            return false;
        };
        user.left = [](void* self, void* room) {
            ++static_cast<Passing*>(self)->left;
            if (room != nullptr && room != self)
                static_cast<Passing*>(self)->rooms.give(static_cast<Room*>(room));
        };
        from = std::make_unique<Stream>(os::Fd(before[0]), rooms, user);
        to = std::make_unique<Stream>(os::Fd(behind[1]), rooms, user);
        user.only_passes_on = true;
        user.frame = [](void* self, std::span<const std::byte> head, std::span<const std::byte> data,
                        Room* room) {
            auto& test = *static_cast<Passing*>(self);
            test.piped += piped_in(room) != nullptr ? 1 : 0;
            const Posted posted = test.out->send(head, data, room, piped_in(room));
            test.under_way += posted == Posted::under_way ? 1 : 0;
            return posted == Posted::under_way;
        };
        in = std::make_unique<Stream>(os::Fd(before[1]), rooms, user);
        out = std::make_unique<Stream>(os::Fd(behind[0]), rooms, user);
    }
    void pass_on(int times) {
        for (int i = 0; i < times; ++i) {
            EXPECT_TRUE(from->write());
            EXPECT_GE(in->read(), 0);
            EXPECT_TRUE(out->write());
            EXPECT_GE(to->read(), 0);
        }
    }
    Rooms rooms;
    int piped = 0, left = 0, under_way = 0;
    std::vector<Bytes> came;
    std::unique_ptr<Stream> from, in, out, to;
};

TEST_F(Passing, FramesStayWholeAndInOrder) {
    std::mt19937 random(1);
    std::vector<Bytes> sent;
    for (uint64_t i = 0; i < 300; ++i) {
        const size_t lengths[] = {random() % 200, random() % wire::frame_chunk, wire::frame_chunk};
        sent.push_back(frame_of(wire::FrameType::chunk, lengths[random() % 3], i));
        from->send(std::span(sent.back()).first(sizeof(wire::Frame)),
                   std::span(sent.back()).subspan(sizeof(wire::Frame)), nullptr);
        pass_on(static_cast<int>(random() % 4));
    }
    for (int i = 0; i < 10000 && came.size() < sent.size(); ++i) pass_on(1);
    EXPECT_TRUE(came == sent);
    EXPECT_GT(piped, 0);
    EXPECT_GT(under_way, 0);
    EXPECT_EQ(left, under_way);
}

TEST_F(Passing, APipeThatIsFullOfSmallPacketsIsEmptied) {
    const Bytes frame = frame_of(wire::FrameType::chunk, wire::frame_chunk, 3);
    for (size_t at = 0; at < frame.size();) {
        const ssize_t n =
            ::send(from->descriptor(), frame.data() + at, std::min<size_t>(100, frame.size() - at), 0);
        if (n > 0) at += static_cast<size_t>(n);
        if (n <= 0) pass_on(1);
    }
    pass_on(100);
    ASSERT_EQ(came.size(), 1U);
    EXPECT_EQ(came[0], frame);
    EXPECT_EQ(piped, 0);
}

TEST_F(Passing, WhatIsInAPipeIsGivenUpWithItsConnection) {
    const Bytes frame = frame_of(wire::FrameType::chunk, wire::frame_chunk, 4);
    for (int i = 0; i < 4; ++i)
        from->send(std::span(frame).first(sizeof(wire::Frame)), std::span(frame).subspan(sizeof(wire::Frame)),
                   nullptr);
    for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE(from->write());
        EXPECT_GE(in->read(), 0);
    }
    EXPECT_GT(under_way, 0);
    out.reset();
    EXPECT_EQ(left, under_way);
    Room* const room = rooms.take();
    EXPECT_EQ(room->piped, 0U);
    rooms.give(room);
}

} // namespace
} // namespace zipmpi::transport::ucx
