// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Two endpoints and paths between them that lose, duplicate, reorder and delay frames, fail and return,
// against a simple model: every message arrives once, in order, with the right bytes. On a virtual clock.
#pragma once

#include "bridge/endpoint.hpp"

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

namespace zipmpi::bridge::simulation {

inline constexpr uint64_t job = 9;
inline constexpr int paths = 3;
inline constexpr uint64_t us = 1000;

extern uint64_t clock_ns; // the virtual clock

struct FaultRates {
    double lost = 0, duplicated = 0, reordered = 0, dies = 0;
    bool sealed = false;
    double changed = 0; // probability that a byte after the header changes; untrusted link
};

// Obscures bytes and detects every change.
class ToyAead final : public transport::auth::Aead {
  public:
    [[nodiscard]] uint64_t salt() const override { return 5; }
    bool seal(const AeadContext& about, std::span<std::byte> head, std::span<const std::byte> data,
              std::byte* out, uint8_t (&tag)[wire::aead_tag_bytes]) override;
    bool open(const AeadContext& about, AeadSegment first, AeadSegment second,
              const uint8_t (&tag)[wire::aead_tag_bytes]) override;
};

struct InFlight {
    uint64_t due;
    std::vector<std::byte> head, data;
    FrameTicket* ticket;
};

struct Wire { // one direction of a path
    std::vector<InFlight> frames;
};

struct UserMessage : NetworkOperation {
    uint64_t number = 0;
    std::vector<std::byte> bytes;
    bool done = false;
};

class Simulation;

// One rank: its sends and receives, and its endpoint.
class Side final : public transport::NetworkListener, public EndpointIo {
  public:
    Side(Simulation& world, int id);
    static EndpointLimits limits();
    void begin(uint64_t bytes);
    void work();
    [[nodiscard]] bool finished() const {
        return waiting_.empty() && endpoint_.idle() && pending_receives_.empty() && receiving_ == 0 &&
               std::ranges::all_of(sends_, [](const auto& m) { return m->done; });
    }
    Endpoint& endpoint() { return endpoint_; }
    [[nodiscard]] size_t begun() const { return sends_.size(); }
    uint64_t arrived = 0;

    // NetworkListener
    void message_arrived(const transport::Arrival& a) override;
    void rts_arrived(const transport::Arrival& a, transport::IncomingBulk& bytes, uint64_t length) override;
    void send_finished(NetworkOperation* operation, OpStatus outcome) override;
    void fetch_finished(NetworkOperation* operation, OpStatus outcome) override;
    void peer_failed(Peer peer, const char* why) override;
    void pack(NetworkOperation*, uint64_t, std::byte*, size_t) override {}
    void unpack(NetworkOperation*, uint64_t, const std::byte*, size_t) override {}
    size_t list_iov(NetworkOperation*, iovec*, size_t) override { return 0; }
    // EndpointIo
    PostStatus send(int path, std::span<const std::byte> head, std::span<const std::byte> data,
                    FrameTicket* ticket) override;
    void close_path(int) override {}
    void revoke_buffer(std::span<const std::byte>) override {}
    [[nodiscard]] bool is_relayed(int peer) const override { return peer == 1 - id_; }
    [[nodiscard]] std::vector<int> paths_to(int) const override { return {0, 1, 2}; }
    [[nodiscard]] uint64_t now_ns() const override { return clock_ns; }

  private:
    struct PendingReceive : UserMessage {
        transport::IncomingBulk* message = nullptr;
    };
    bool post(UserMessage& message);
    uint64_t take_number(const transport::Arrival& a);
    void receive_one();

    Simulation& simulation_;
    int id_;
    ToyAead aead_;
    Endpoint endpoint_;
    std::vector<std::unique_ptr<UserMessage>> sends_;
    std::deque<UserMessage*> waiting_;
    std::vector<PendingReceive*> pending_receives_;
    int receiving_ = 0;
};

class Simulation {
  public:
    Simulation(unsigned seed, const FaultRates& flaws);
    bool run(int messages);
    bool shut_down();
    PostStatus post(int from, int path, std::span<const std::byte> head, std::span<const std::byte> data,
                    FrameTicket* ticket);
    void step();
    std::mt19937 random;
    FaultRates faults;
    std::unique_ptr<Side> sides[2];
    Wire wires[2][paths];
    bool alive[paths] = {true, true, true};
    bool finished[2] = {false, false};
    bool stopped[2][paths] = {};  // the gateway hangs: frames of this side are not read
    bool partitioned[paths] = {}; // no frame passes in either direction, without notification
    uint64_t max_retained = 0;
    bool chance(double p) { return std::uniform_real_distribution<>(0, 1)(random) < p; }

  private:
    void deliver(int side, int path);
    void reply_as_gateway(int side, int path, const wire::Frame& frame, uint64_t bytes);
    void corrupt_byte(InFlight& frame);
    void tamper();
};

} // namespace zipmpi::bridge::simulation
