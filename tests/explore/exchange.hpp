// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Internals of a run: the two sides, the gateways and the clock.
#pragma once

#include "two_endpoints.hpp"

#include <algorithm>

namespace zipmpi::bridge::explore {

inline constexpr uint64_t job = 9;
inline constexpr int gateways = 2;
inline constexpr uint64_t us = 1000, ms = 1000 * us, second = 1000 * ms;
inline constexpr uint64_t time_limit = 25 * second; // an endpoint declares a silent peer failed after 30 s
inline constexpr long step_limit = 100'000;         // a run without defects takes at most a few thousand
extern uint64_t clock_ns;                           // the virtual clock

inline std::byte byte_of(uint64_t message, uint64_t at) {
    return static_cast<std::byte>(message * 31 + at * 7 + at / 255);
}

struct FrameInFlight {
    uint64_t due;
    uint64_t order;
    int from, gateway;
    std::vector<std::byte> head, data;
    FrameTicket* ticket;
    bool had_fault = false;
};

struct Message : NetworkOperation {
    uint64_t number = 0;
    std::vector<std::byte> bytes;
    bool done = false;
};

struct PendingReceive : NetworkOperation {
    transport::IncomingBulk* message = nullptr;
    Message what;
    uint64_t due = 0;
};

class Exchange;

// One rank: its sends and receives, and its endpoint of the bridge.
class Side final : public transport::NetworkListener, public EndpointIo {
  public:
    Side(Exchange& exchange, int id);
    void add_send(uint64_t bytes);
    void work();
    void receive(size_t index);
    [[nodiscard]] bool finished() const {
        return waiting_.empty() && end.idle() && announced.empty() && receiving == 0 &&
               std::ranges::all_of(sends_, [](const auto& m) { return m->done; });
    }
    [[nodiscard]] size_t sends() const { return sends_.size(); }
    [[nodiscard]] std::string state() const;

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
    PostStatus send(int gateway, std::span<const std::byte> head, std::span<const std::byte> data,
                    FrameTicket* ticket) override;
    void close_path(int gateway) override;
    void revoke_buffer(std::span<const std::byte>) override {}
    [[nodiscard]] bool is_relayed(int peer) const override { return peer == 1 - id; }
    [[nodiscard]] std::vector<int> paths_to(int) const override { return {0, 1}; }
    [[nodiscard]] uint64_t now_ns() const override { return clock_ns; }

    Exchange& exchange;
    int id;
    Endpoint end;
    std::vector<std::unique_ptr<PendingReceive>> announced;
    int receiving = 0;
    uint64_t arrived = 0;

  private:
    bool post(Message& m);
    uint64_t take_number(const transport::Arrival& a);
    void check_bytes(uint64_t number, std::span<const std::byte> bytes);
    std::vector<std::unique_ptr<Message>> sends_;
    std::deque<Message*> waiting_;
};

// Both sides, the gateways between them, and the clock.
class Exchange {
  public:
    Exchange(const Scenario& scenario, const std::vector<PlacedFault>& faults);
    void run();
    void fail(const std::string& what) {
        if (violation.empty()) violation = what;
    }
    PostStatus post(int from, int gateway, std::span<const std::byte> head, std::span<const std::byte> data,
                    FrameTicket* ticket);
    void reconnect(int side,
                   int gateway); // a rank closes the connection and reconnects

    const Scenario& scenario;
    bool peer_was_killed = false; // the other side must only complete its operations, with any result
    int points = 0;
    std::string violation;

  private:
    struct Timer {
        uint64_t due;
        std::function<void()> action;
    };
    // Ends a phase without progress: virtual time passes, or a side stays busy.
    class Limit {
      public:
        explicit Limit(const Exchange& e)
            : exchange_(e) {}
        [[nodiscard]] bool exceeded() const {
            return clock_ns - began_ > time_limit || exchange_.steps_ - steps_ > step_limit;
        }
        [[nodiscard]] std::string spent() const {
            return std::to_string((clock_ns - began_) / ms) + " ms and " +
                   std::to_string(exchange_.steps_ - steps_) + " steps";
        }

      private:
        const Exchange& exchange_;
        uint64_t began_ = clock_ns;
        long steps_ = exchange_.steps_;
    };
    void step();
    void deliver_next();
    void deliver(FrameInFlight frame, const PlacedFault* fault);
    const PlacedFault* fault_at_next_point(const FrameInFlight& frame);
    void strike(Fault fault, int gateway, int from);
    void answer_as_gateway(const FrameInFlight& f, const wire::Frame& frame);
    void drop_frames(int from, int gateway); // from -1: of both sides
    void disconnect(int side, int gateway);
    void connect(int side, int gateway);
    void restart_hung(int gateway);
    void exchange_all();
    void leave_in_turn();
    void after(uint64_t delay, std::function<void()> action) {
        timers_.push_back({clock_ns + delay, std::move(action)});
    }
    [[nodiscard]] bool over(int side) const { return gone_[side] || sides_[side]->finished(); }
    [[nodiscard]] std::string state() const { return sides_[0]->state() + sides_[1]->state(); }

    const std::vector<PlacedFault>& faults_;
    std::vector<FrameInFlight> frames_;
    std::unique_ptr<Side> sides_[2];
    bool connected_[2][gateways] = {{true, true}, {true, true}};
    bool hung_[gateways] = {};
    bool gone_[2] = {};
    std::vector<Timer> timers_;
    uint64_t order_ = 0;
    long steps_ = 0;
};

} // namespace zipmpi::bridge::explore
