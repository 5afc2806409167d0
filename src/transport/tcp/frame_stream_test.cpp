// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tcp/frame_stream.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <sys/socket.h>

namespace zipmpi::transport::tcp {
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

Bytes joined(std::span<const std::byte> head, std::span<const std::byte> data) {
    Bytes whole(head.begin(), head.end());
    whole.insert(whole.end(), data.begin(), data.end());
    return whole;
}

// Both endpoints of one connection.
class Streams : public testing::Test, public StreamListener {
  public:
    std::byte* receive_buffer_for(std::span<const std::byte>, size_t bytes) override {
        return bytes <= memory.size() ? memory.data() : nullptr;
    }
    bool frame_arrived(std::span<const std::byte> head, std::span<const std::byte> data,
                       FrameBuffer*) override {
        preposted += !data.empty() && data.data() == memory.data() ? 1 : 0;
        arrived.push_back(joined(head, data));
        return false;
    }
    void frame_sent(FrameTicket*) override { ++sent_frames; }

  protected:
    Streams() {
        int ends[2];
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
        const int small = 16 << 10;
        setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
        from = std::make_unique<FrameStream>(os::Fd(ends[0]), pool, *this, StreamUse::deliver);
        to = std::make_unique<FrameStream>(os::Fd(ends[1]), pool, *this, StreamUse::deliver);
    }
    void send(const Bytes& frame, bool gathers = false) {
        const size_t head = std::min<size_t>(frame.size(), 100);
        const std::span all(frame);
        if (gathers)
            from->batch(all.first(head), all.subspan(head));
        else
            in_flight +=
                from->send(all.first(head), all.subspan(head), &ticket) == PostStatus::in_flight ? 1 : 0;
    }
    void transfer_all() {
        for (int i = 0; i < 10000 && (from->has_pending_writes() || from->batched() != 0); ++i) {
            EXPECT_TRUE(from->flush() && from->write());
            EXPECT_GE(to->read(), 0);
        }
        for (int i = 0; i < 100; ++i) EXPECT_GE(to->read(), 0);
    }
    FrameBufferPool pool;
    FrameTicket ticket;
    Bytes memory;
    int preposted = 0, sent_frames = 0, in_flight = 0;
    std::vector<Bytes> arrived;
    std::unique_ptr<FrameStream> from, to;
};

TEST_F(Streams, FramesOfAllLengthsArriveInOrder) {
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
    transfer_all();
    EXPECT_TRUE(arrived == sent);
    EXPECT_EQ(sent_frames, in_flight);
    EXPECT_GT(in_flight, 0);
}

TEST_F(Streams, DataIsReadToItsDestination) {
    memory.resize(wire::frame_chunk);
    const Bytes frame = frame_of(wire::FrameType::chunk, wire::frame_chunk, 7);
    send(frame);
    transfer_all();
    ASSERT_EQ(arrived.size(), 1U);
    EXPECT_EQ(arrived[0], frame);
    EXPECT_EQ(preposted, 1);
}

TEST_F(Streams, RevokedBufferIsNotWritten) {
    memory.resize(wire::frame_chunk);
    const Bytes frame = frame_of(wire::FrameType::chunk, wire::frame_chunk, 7);
    const Bytes next = frame_of(wire::FrameType::chunk, 10, 8);
    send(frame);
    EXPECT_EQ(to->read(), 0); // only a fragment
    to->revoke_buffer(memory);
    const Bytes before(memory.size(), std::byte{42});
    memory = before;
    send(next);
    transfer_all();
    EXPECT_EQ(memory, before);
    ASSERT_EQ(arrived.size(), 1U);
    EXPECT_EQ(arrived[0], next);
}

TEST_F(Streams, InvalidFrameClosesConnection) {
    Bytes frame = frame_of(wire::FrameType::chunk, 10, 1);
    frame[0] = std::byte{0};
    send(frame);
    EXPECT_EQ(to->read(), -1);
}

TEST_F(Streams, CloseIsDetectedAndPendingDataDropped) {
    const Bytes frame = frame_of(wire::FrameType::chunk, wire::frame_chunk, 1);
    for (int i = 0; i < 8; ++i) send(frame);
    EXPECT_GT(in_flight, 0);
    from.reset();
    EXPECT_EQ(sent_frames, in_flight);
    int last = 0;
    for (int i = 0; i < 100 && last >= 0; ++i) last = to->read();
    EXPECT_EQ(last, -1);
}

// A ticket that returns the buffer of a forwarded frame.
struct BufferTicket : FrameTicket {
    FrameBuffer* buffer;
};

// A gateway: `in` reads from `from`, and `out` sends to `to`.
class Forwarding : public testing::Test {
  protected:
    class Receiver final : public StreamListener {
      public:
        explicit Receiver(Forwarding& test)
            : test_(test) {}
        bool frame_arrived(std::span<const std::byte> head, std::span<const std::byte> data,
                           FrameBuffer*) override {
            test_.arrived.push_back(joined(head, data));
            return false;
        }
        void frame_sent(FrameTicket*) override { ++test_.sent_frames; }

      private:
        Forwarding& test_;
    };
    class Forwarder final : public StreamListener {
      public:
        explicit Forwarder(Forwarding& test)
            : test_(test) {}
        bool frame_arrived(std::span<const std::byte> head, std::span<const std::byte> data,
                           FrameBuffer* buffer) override {
            test_.spliced += spliced_buffer(buffer) != nullptr ? 1 : 0;
            auto ticket = std::make_unique<BufferTicket>();
            ticket->buffer = buffer;
            const PostStatus posted = test_.out->send(head, data, buffer != nullptr ? ticket.get() : nullptr,
                                                      spliced_buffer(buffer));
            if (posted != PostStatus::in_flight) return false;
            ++test_.in_flight;
            static_cast<void>(ticket.release()); // until frame_sent()
            return true;
        }
        void frame_sent(FrameTicket* ticket) override {
            const std::unique_ptr<BufferTicket> owned(static_cast<BufferTicket*>(ticket));
            ++test_.sent_frames;
            test_.pool.release(owned->buffer);
        }

      private:
        Forwarding& test_;
    };

    Forwarding() {
        int before[2];
        int behind[2];
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, before), 0);
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, behind), 0);
        const int small = 48 << 10;
        for (const int fd : {before[0], behind[0]})
            setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
        from = std::make_unique<FrameStream>(os::Fd(before[0]), pool, receiver, StreamUse::deliver);
        to = std::make_unique<FrameStream>(os::Fd(behind[1]), pool, receiver, StreamUse::deliver);
        in = std::make_unique<FrameStream>(os::Fd(before[1]), pool, forwarder, StreamUse::forward_only);
        out = std::make_unique<FrameStream>(os::Fd(behind[0]), pool, forwarder, StreamUse::forward_only);
    }
    void forward(int times) {
        for (int i = 0; i < times; ++i) {
            EXPECT_TRUE(from->write());
            EXPECT_GE(in->read(), 0);
            EXPECT_TRUE(out->write());
            EXPECT_GE(to->read(), 0);
        }
    }
    FrameBufferPool pool;
    Receiver receiver{*this};
    Forwarder forwarder{*this};
    int spliced = 0, sent_frames = 0, in_flight = 0;
    std::vector<Bytes> arrived;
    std::unique_ptr<FrameStream> from, in, out, to;
};

TEST_F(Forwarding, FramesStayIntactAndInOrder) {
    std::mt19937 random(1);
    std::vector<Bytes> sent;
    for (uint64_t i = 0; i < 300; ++i) {
        const size_t lengths[] = {random() % 200, random() % wire::frame_chunk, wire::frame_chunk};
        sent.push_back(frame_of(wire::FrameType::chunk, lengths[random() % 3], i));
        from->send(std::span(sent.back()).first(sizeof(wire::Frame)),
                   std::span(sent.back()).subspan(sizeof(wire::Frame)), nullptr);
        forward(static_cast<int>(random() % 4));
    }
    for (int i = 0; i < 10000 && arrived.size() < sent.size(); ++i) forward(1);
    EXPECT_TRUE(arrived == sent);
    EXPECT_GT(spliced, 0);
    EXPECT_GT(in_flight, 0);
    EXPECT_EQ(sent_frames, in_flight);
}

TEST_F(Forwarding, PipeFullOfSmallPacketsIsDrained) {
    const Bytes frame = frame_of(wire::FrameType::chunk, wire::frame_chunk, 3);
    for (size_t at = 0; at < frame.size();) {
        const ssize_t n =
            ::send(from->descriptor(), frame.data() + at, std::min<size_t>(100, frame.size() - at), 0);
        if (n > 0) at += static_cast<size_t>(n);
        if (n <= 0) forward(1);
    }
    forward(100);
    ASSERT_EQ(arrived.size(), 1U);
    EXPECT_EQ(arrived[0], frame);
    EXPECT_EQ(spliced, 0);
}

TEST_F(Forwarding, SplicedDataIsDroppedWithItsConnection) {
    const Bytes frame = frame_of(wire::FrameType::chunk, wire::frame_chunk, 4);
    for (int i = 0; i < 4; ++i)
        from->send(std::span(frame).first(sizeof(wire::Frame)), std::span(frame).subspan(sizeof(wire::Frame)),
                   nullptr);
    for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE(from->write());
        EXPECT_GE(in->read(), 0);
    }
    EXPECT_GT(in_flight, 0);
    out.reset();
    EXPECT_EQ(sent_frames, in_flight);
    FrameBuffer* const buffer = pool.acquire();
    EXPECT_EQ(buffer->spliced_bytes, 0U);
    pool.release(buffer);
}

} // namespace
} // namespace zipmpi::transport::tcp
