// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The end of all flows of a rank: what it sends to ranks in other clusters, and what comes from them. Lanes
// (gateways) may lose, double, reorder and delay frames, die and return; above, every message comes once and
// in order. No descriptors and no clock here: lanes and time are given.
//
// A message goes at once, with a copy that is kept until it is acknowledged. Of a long one the first chunks
// go at once and the rest when the receive is known; it stays in the memory of its user. The window of a flow
// counts first frames only, so a long message that nobody receives yet holds up no other.
//
// Threads: one at a time.
#pragma once

#include "bridge/frame.hpp"
#include "transport/ucx/network.hpp"
#include "transport/ucx/sealer.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

namespace zipmpi::bridge {

using transport::Peer;
using transport::ucx::Memory;
using transport::ucx::Outcome;
using transport::ucx::Posted;

struct EndLimits {
    uint64_t head = 2 * wire::frame_chunk;      // data of a long message that travels before it is granted
    uint64_t retained = uint64_t{8} << 20;      // copies that a flow keeps
    uint64_t lane_bytes = uint64_t{2} << 20;    // with a gateway that has not passed them on
    uint64_t ack_bytes = 4 * wire::frame_chunk; // so much, so many messages or so long without an ack
    uint32_t ack_messages = wire::flow_window / 4;
    uint64_t ack_ns = 1'000'000;
    uint64_t beat_ns = 200'000'000;               // a lane that has been silent so long is asked
    uint64_t silence_ns = 1'000'000'000;          // and so long: it is down
    uint64_t resend_ns = uint64_t{1'000'000'000}; // not acknowledged though its lane is well: sent again
    uint64_t grace_ns = uint64_t{30'000'000'000}; // without a lane: the other side is lost
};

// What an end uses. send: head is copied, data stays until left(ticket), which comes if it is under way.
struct EndWorld {
    void* subject = nullptr;
    Posted (*send)(void* subject, int lane, std::span<const std::byte> head, std::span<const std::byte> data,
                   void* ticket) = nullptr;
    void (*close_lane)(void* subject, int lane) = nullptr; // it is silent: everything on it is given up
    void (*withdraw)(void* subject, std::span<const std::byte> memory) = nullptr; // that place() gave
    std::vector<int> (*lanes_to)(void* subject, int world_rank) = nullptr;
    uint64_t (*now_ns)() = nullptr;
    transport::ucx::Sealer* sealer = nullptr; // null: links are trusted
};

struct EndCounters {
    uint64_t messages_out = 0, messages_in = 0, frames_out = 0, frames_in = 0, control_out = 0;
    uint64_t duplicates = 0, sent_again = 0, refused = 0, lanes_lost = 0;
};

struct Piece;
struct LongSend;
struct LongReceive;
struct Flow;

class End {
  public:
    End(int own_id, uint64_t job, int lanes, const EndLimits& limits, const transport::ucx::Sink& sink,
        const EndWorld& world);
    ~End();
    End(const End&) = delete;
    End& operator=(const End&) = delete;

    // The flow to and from a rank, dense from 0.
    Peer flow(int world_rank);
    [[nodiscard]] int rank_of(Peer peer) const;
    void give_up(int world_rank); // it is gone: what is under way to and from it ends as failed
    Posted send(Peer peer, const wire::Envelope& envelope, const std::byte* payload, const Memory& data);
    Posted send_long(Peer peer, const wire::Envelope& envelope, const std::byte* payload, const Memory& data);
    void receive(LongReceive& message, const Memory& to);
    void drop(LongReceive& message);
    [[nodiscard]] bool owns(const void* message) const { return receives_.contains(message); }

    void take(int lane, std::span<const std::byte> head, std::span<const std::byte> data);
    // The world may find out only after the beginning whether links are trusted.
    void use(transport::ucx::Sealer& sealer) { world_.sealer = &sealer; }
    // Where the data of a long frame may be read to that is coming, and is given to take() then; null:
    // anywhere.
    std::byte* place(std::span<const std::byte> head, size_t bytes);
    void left(void* ticket); // the network has finished with the data of a frame
    void lane_up(int lane);
    void lane_down(int lane);
    // The lanes of all flows may have changed; frames on lanes that are none any more go again.
    void reroute();

    // What is due. Returns how many things happened.
    int advance();
    [[nodiscard]] uint64_t next_deadline_ns() const; // when advance() may have something to do; ~0: never
    [[nodiscard]] bool idle() const;                 // all acknowledged, and nothing owed
    // This rank is about to go, or stays after all. idle() is then true only when gateways have what was said
    // last: nobody is here any more to say it again. One who has gone himself is not waited for for ever.
    void leaving(bool yes);
    // What is owed goes now. Of long messages that are still coming only what is due: more comes soon.
    void flush_before_sleep();
    // Chunks of long messages have come or gone a moment ago.
    [[nodiscard]] bool in_bulk() const { return looked_now_ns_ < bulk_ns_ + bulk_lasts_ns; }
    [[nodiscard]] const EndCounters& counters() const { return counters_; }
    [[nodiscard]] uint64_t retained_bytes() const;
    // Asks all lanes that are up whether they are well.
    void ask_all();
    [[nodiscard]] bool all_answered() const {
        return std::ranges::none_of(lanes_, [](const Lane& l) { return l.up && l.asked_ns != 0; });
    }
    [[nodiscard]] bool is_up(int lane) const { return lanes_[static_cast<size_t>(lane)].up; }

  private:
    static constexpr uint64_t bulk_lasts_ns = 1'000'000;
    struct Lane {
        bool up = false;
        uint64_t with_gateway = 0; // bytes
        double ns_per_byte = 1;
        uint64_t sampled_ns = 0;
        uint64_t sampled_bytes = 0;
        uint64_t heard_ns = 0;
        uint64_t asked_ns = 0; // 0: no question is open
        uint64_t trusted_from_ns = 0;
        bool was_lost = false;
        uint64_t said = 0;         // acknowledgements and grants that were sent,
        uint64_t confirmed = 0;    // those of them that the gateway has read,
        uint64_t said_ns = 0;      // when the first of the others was
        std::deque<Piece*> pieces; // in order of sending; null: gone
        uint64_t first = 0;        // number of pieces.front()
    };

    // end_send.cpp
    Piece& make_first(Flow& flow, const wire::Envelope& envelope, const std::byte* payload, uint64_t length);
    void queue(Flow& flow, Piece& piece, bool in_front);
    void busy(Flow& flow);
    int pump();
    bool push(Flow& flow);
    bool push_chunk(Flow& flow);
    bool transmit(Piece& piece, int lane);
    Posted send_frame(Flow& flow, int lane, wire::Frame frame, std::span<const std::byte> head,
                      std::span<const std::byte> data, void* ticket);
    [[nodiscard]] int choose(Flow& flow, uint64_t bytes);
    // end_seal.cpp
    bool seal(Flow& flow, const wire::Frame& frame, std::span<const std::byte> ack, std::span<std::byte> head,
              std::span<const std::byte>& data, Piece* piece, wire::Seal& seal);
    bool unseal(const FrameView& view, std::span<const std::byte> head, std::span<const std::byte> data,
                std::vector<std::byte>& opened, FrameView& inside);
    [[nodiscard]] std::unique_ptr<std::byte[]> sealing_room(uint64_t bytes);
    void drop_sealed(Piece& piece, size_t left);
    // end_send.cpp
    void acknowledged(Piece& piece);
    void let_go(Piece& piece);
    void take_ack(Flow& flow, uint64_t next, std::span<const uint64_t> seen);
    void acknowledge_first(Flow& flow, uint64_t sequence);
    void take_grant(Flow& flow, uint64_t sequence, const wire::Grant& grant);
    void finish_if_done(LongSend& message);
    void ask_how_far(LongSend& message);
    void fail(Flow& flow);
    // end_receive.cpp
    void take_message(Flow& flow, const FrameView& view);
    void take_chunk(Flow& flow, const FrameView& view);
    void deliver(Flow& flow, const wire::Frame& frame, const wire::MessageHead& head,
                 std::span<const std::byte> payload, std::span<const std::byte> data);
    void deliver_kept(Flow& flow);
    void store(LongReceive& message, uint64_t offset, std::span<const std::byte> data);
    LongReceive* wanted_at(const wire::Frame& frame, size_t bytes, std::byte*& at);
    void put(LongReceive& message, uint64_t offset, std::span<const std::byte> data);
    void finish_if_whole(LongReceive& message);
    void close_receive(LongReceive& message);
    void owe_ack(Flow& flow, uint64_t bytes);
    bool send_ack(Flow& flow);
    bool send_grant(Flow& flow, uint64_t sequence, const wire::Grant& grant);
    bool send_grant(LongReceive& message);
    void answer_question(Flow& flow, uint64_t sequence);
    [[nodiscard]] bool has_seen(const Flow& flow, uint64_t sequence) const;
    // end.cpp
    void take(int lane, const FrameView& view);
    void take_from_gateway(int lane, const FrameView& view);
    void take_credit(Lane& lane, uint64_t bytes);
    void put_on(int lane, Piece& piece);
    void take_off(Piece& piece);
    void send_again(Piece& piece);
    void send_state(Flow& flow);
    int look_after_lanes(uint64_t now);
    int send_late_again(const Lane& lane, uint64_t now);
    int look_after_flows(uint64_t now);
    void pay(uint64_t acks_until, uint64_t grants_until); // what is owed since before these
    bool ask(int lane, uint64_t now);
    [[nodiscard]] static bool unconfirmed(const Lane& lane) { return lane.up && lane.confirmed != lane.said; }
    [[nodiscard]] bool all_confirmed() const { return std::ranges::none_of(lanes_, unconfirmed); }
    // For what was said, or for a question.
    [[nodiscard]] static bool waits_for_gateway(const Lane& lane) {
        return lane.up && (lane.asked_ns != 0 || unconfirmed(lane));
    }
    [[nodiscard]] bool no_gateway_owes() const { return std::ranges::none_of(lanes_, waits_for_gateway); }
    void count_said(Lane& lane);
    int look_after_leaving(uint64_t now);
    [[nodiscard]] bool awaits_something() const; // an answer, without which nothing moves here
    bool close_if_silent(int lane, uint64_t now);
    [[nodiscard]] bool has_lane(const Flow& flow) const;
    [[nodiscard]] int control_lane(const Flow& flow) const;

    int own_id_;
    uint64_t job_;
    EndLimits limits_;
    transport::ucx::Sink sink_;
    EndWorld world_;
    std::vector<Lane> lanes_;
    std::deque<std::unique_ptr<Flow>> flows_;
    std::unordered_map<int, Peer> by_rank_;
    std::deque<Flow*> busy_; // with something to send
    std::unordered_map<const void*, std::unique_ptr<LongReceive>> receives_;
    uint64_t acks_owed_ns_ = ~uint64_t{0};                    // when the first is due
    uint64_t looked_ns_ = 0;                                  // at lanes and flows
    uint64_t looked_now_ns_ = bulk_lasts_ns;                  // the last advance()
    uint64_t bulk_ns_ = 0;                                    // the last chunk
    uint64_t leaving_since_ns_ = 0;                           // 0: this rank stays
    uint64_t unacknowledged_ = 0;                             // pieces,
    uint64_t notices_ = 0;                                    // and those of them that are notices
    uint64_t open_long_sends_ = 0;                            // in all flows
    std::vector<std::byte> opened_;                           // a frame that was sealed; memory for the next
    std::vector<std::unique_ptr<std::byte[]>> sealing_rooms_; // of a chunk each, for the next
    EndCounters counters_;
};

} // namespace zipmpi::bridge
