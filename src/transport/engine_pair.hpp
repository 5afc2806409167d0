// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Fixture of the tests of network engines: two processes of a job in one, and both networks communicate over
// the loopback interface.
#pragma once

#include "os/crypto_module.hpp"
#include "transport/ofi/ofi_module.hpp"
#include "transport/tcp/frame_stream.hpp"
#include "transport/tcp_engine/tcp_network.hpp"
#include "transport/ucx/ucx_module.hpp"
#include "wire/frame_layout.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <unistd.h>

namespace zipmpi::transport {

using Key = std::array<uint8_t, wire::key_bytes>;
using Bytes = std::vector<std::byte>;

inline constexpr Key key{1, 2, 3};

// An operation on every second byte of its memory.
struct StridedOperation : NetworkOperation {
    Bytes memory;
};

enum class Kind { ucx, tcp, tcp_auth, tcp_full, ofi_rxm, ofi_net };

inline bool is_ofi(Kind kind) { return kind == Kind::ofi_rxm || kind == Kind::ofi_net; }

inline std::unique_ptr<FrameNetwork> open_engine(Kind kind, const NetworkConfig& config,
                                                 const FrameConfig& frames, std::string& why) {
    if (kind == Kind::ucx) return std::unique_ptr<FrameNetwork>(ucx::open_for_frames(config, frames, why));
    if (is_ofi(kind))
        return std::unique_ptr<FrameNetwork>(
            ofi::open_for_frames(config, frames, kind == Kind::ofi_rxm ? "tcp;ofi_rxm" : "net", why));
    stream::Sealing sealing;
    if (kind != Kind::tcp)
        sealing = {os::load_crypto(why),
                   kind == Kind::tcp_full ? RecordText::encrypted : RecordText::readable};
    auto network = std::make_unique<tcp_engine::TcpNetwork>(config, frames, sealing);
    return network->start(config.devices, why) ? std::move(network) : nullptr;
}

struct EventCounts {
    int sent = 0, fetched = 0, failed = 0, frames_sent = 0, connections = 0, peer_failures = 0,
        lost_connections = 0;
};

class Process final : public NetworkListener,
                      public FrameListener,
                      public AddressResolver,
                      public EventCounts {
  public:
    void open(Kind kind, int rank, FrameConfig frame_config, const Key& job_key = key) {
        frame_config.listener = this;
        NetworkConfig config{rank, {job_key, job_key}};
        config.devices = "lo";
        config.detect_from = detect_from;
        config.listener = this;
        config.resolver = this;
        std::string why;
        network = open_engine(kind, config, frame_config, why);
        ASSERT_NE(network, nullptr) << why;
    }

    std::string find(int) override { return partner->network->address(); }
    void message_arrived(const Arrival& message) override {
        tags.push_back(message.envelope.tag);
        data.emplace_back(message.bulk, message.bulk + message.bulk_bytes);
        payload.assign(reinterpret_cast<const char*>(message.payload), message.envelope.inline_bytes);
    }
    void rts_arrived(const Arrival& message, IncomingBulk& bytes, uint64_t length) override {
        tags.push_back(message.envelope.tag);
        bulk = &bytes;
        bulks.push_back(&bytes);
        bulk_bytes = length;
    }
    void send_finished(NetworkOperation*, OpStatus outcome) override {
        ++(outcome == OpStatus::done ? sent : failed);
    }
    void fetch_finished(NetworkOperation*, OpStatus outcome) override {
        ++(outcome == OpStatus::done ? fetched : failed);
    }
    void peer_failed(Peer, const char*) override { ++peer_failures; }
    void connection_lost(Peer, const char*) override { ++lost_connections; }
    void pack(NetworkOperation* operation, uint64_t offset, std::byte* to, size_t bytes) override {
        const Bytes& memory = static_cast<StridedOperation*>(operation)->memory;
        for (size_t i = 0; i < bytes; ++i) to[i] = memory[2 * (offset + i)];
    }
    void unpack(NetworkOperation* operation, uint64_t offset, const std::byte* from, size_t bytes) override {
        Bytes& memory = static_cast<StridedOperation*>(operation)->memory;
        for (size_t i = 0; i < bytes; ++i) memory[2 * (offset + i)] = from[i];
    }
    size_t list_iov(NetworkOperation*, iovec*, size_t) override { return 0; }
    bool frame_arrived(const FrameArrival& frame) override {
        if (tcp::FrameBuffer* const buffer = network->spliced(frame.descriptor); buffer != nullptr) {
            EXPECT_TRUE(buffer->read_spliced(frame.data.size()));
        }
        Bytes whole(frame.head.begin(), frame.head.end());
        whole.insert(whole.end(), frame.data.begin(), frame.data.end());
        frames.push_back(std::move(whole));
        if (!keeps_frames || frame.descriptor == nullptr) return false;
        kept = frame.descriptor;
        return true;
    }
    void frame_sent(FrameTicket*) override { ++frames_sent; }
    void peer_connected(Peer, int) override { ++connections; }

    std::unique_ptr<FrameNetwork> network;
    Process* partner = nullptr;
    std::vector<int> tags;
    std::vector<Bytes> data;
    std::vector<Bytes> frames;
    std::string payload;
    IncomingBulk* bulk = nullptr; // the last one
    std::vector<IncomingBulk*> bulks;
    uint64_t bulk_bytes = 0;
    void* kept = nullptr;
    bool keeps_frames = false;
    int detect_from = 0;
};

inline wire::Envelope envelope_of(int tag, size_t payload = 0) {
    wire::Envelope e{};
    e.kind = wire::MessageKind::eager;
    e.tag = tag;
    e.inline_bytes = static_cast<uint8_t>(payload);
    return e;
}

inline Bytes pattern(size_t bytes, size_t seed) {
    Bytes b(bytes);
    for (size_t i = 0; i < bytes; ++i) b[i] = static_cast<std::byte>(i * 7 + seed);
    return b;
}

inline Bytes frame_of(size_t data, uint64_t sequence) {
    Bytes bytes = pattern(sizeof(wire::Frame) + data, sequence);
    wire::Frame f{};
    f.magic = wire::frame_magic;
    f.type = wire::FrameType::chunk;
    f.sequence = sequence;
    f.bytes = static_cast<uint32_t>(data);
    std::memcpy(bytes.data(), &f, sizeof f);
    return bytes;
}

class EnginePair : public testing::TestWithParam<Kind> {
  protected:
    void start(const FrameConfig& first, const FrameConfig& second, const Key& second_key = key) {
        a.partner = &b;
        b.partner = &a;
        a.open(GetParam(), 0, first);
        b.open(GetParam(), 1, second, second_key);
        ASSERT_FALSE(HasFatalFailure());
        to_b = a.network->connect_to(1);
        ASSERT_EQ(to_b, 0);
        EXPECT_EQ(a.network->rank_of(0), 1);
    }
    template <class Done>
    bool poll_until(Done done) {
        for (int i = 0; i < 20000 && !done(); ++i) {
            a.network->progress();
            b.network->progress();
            if (i > 1000) usleep(100);
        }
        return done();
    }
    bool connect() {
        return poll_until([this] { return a.connections == 1 && b.connections == 1; });
    }
    // Sends frames of many lengths and checks that all arrive; only streams keep them in order.
    void exchange_frames(Process& from, Process& to) {
        std::vector<Bytes> sent;
        FrameTicket ticket;
        int in_flight = 0;
        for (uint64_t i = 0; i < 60; ++i) {
            const size_t lengths[] = {0, 100, 1500, 5000, wire::frame_chunk};
            sent.push_back(frame_of(lengths[i % 5], i));
        }
        for (const Bytes& frame : sent) {
            const std::span all(frame);
            const std::span head = all.first(sizeof(wire::Frame));
            const Batching batching = frame.size() < 2000 ? Batching::allowed : Batching::forbidden;
            const PostStatus posted =
                from.network->send_frame(0, head, all.subspan(head.size()), &ticket, batching);
            ASSERT_TRUE(posted == PostStatus::done || posted == PostStatus::in_flight);
            in_flight += posted == PostStatus::in_flight ? 1 : 0;
        }
        EXPECT_TRUE(poll_until([&] { return to.frames.size() == sent.size() && from.network->idle(); }));
        std::ranges::sort(sent);
        std::ranges::sort(to.frames);
        EXPECT_TRUE(to.frames == sent);
        EXPECT_EQ(from.frames_sent, in_flight);
        EXPECT_FALSE(from.network->has_batches());
    }
    Process a, b;
    int to_b = -1;
};

} // namespace zipmpi::transport
