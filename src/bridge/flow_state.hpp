// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// State of the flows of an endpoint: unacknowledged frames, long messages, the route.
#pragma once

#include "bridge/endpoint_io.hpp"

#include <deque>
#include <map>
#include <memory>
#include <vector>

namespace zipmpi::bridge {

struct ChunkedSend;
struct Flow;

using SealedText = std::unique_ptr<std::byte[]>; // encrypted data of one transmission

// The fields of a frame header that are the same in each transmission.
struct FrameFields {
    wire::FrameType type{};
    uint32_t context = 0;
    int32_t tag = 0;
    uint64_t sequence = 0, offset = 0, length = 0;

    [[nodiscard]] wire::Frame header() const {
        wire::Frame frame{};
        frame.type = type;
        frame.context = context;
        frame.tag = tag;
        frame.sequence = sequence;
        frame.offset = offset;
        frame.length = length;
        return frame;
    }
};

// A frame with data that may have to be retransmitted.
struct UnackedFrame : FrameTicket {
    struct Transmission {   // the last one
        int path = -1;      // -1: queued
        uint64_t index = 0; // in the frames of the path
        uint64_t sent_ns = 0;
    };
    Flow* flow = nullptr;
    ChunkedSend* message = nullptr; // owner of the data; null: a copy
    FrameFields fields;
    std::byte head[sizeof(wire::MessageHead) + wire::inline_max];
    size_t head_bytes = 0;
    std::vector<std::byte> copy;
    std::span<const std::byte> data;
    Transmission last;
    uint32_t in_network = 0;        // transmissions not yet finished by the network
    std::vector<SealedText> sealed; // of these transmissions
    uint32_t transmissions = 0;
    uint32_t late_retransmissions = 0; // since its path was lost
    bool queued = false;
    bool acknowledged = false;
    bool best_effort = false; // the receiver may already have exited
};

struct ChunkedSend {
    Flow* flow = nullptr;
    FrameFields fields; // of its chunks, without offset
    BufferRef memory;
    uint64_t granted = 0;
    uint64_t chunks = 0;
    uint64_t next = 1;                    // chunk to be sent
    uint32_t turn = 0;                    // number of visits by push_chunk()
    uint64_t peer_next = 1;               // first chunk missing at the receiver
    uint32_t in_network = 0;              // its frames still in the network
    uint64_t last_heard_ns = 0;           // time of the last reply of the receiver, or of the last probe
    std::vector<UnackedFrame*> in_flight; // by chunk; null: not sent, or acknowledged
    bool first_acknowledged = false;
    bool complete = false;
    bool listed = false;    // in FlowSendState::sending
    bool abandoned = false; // its flow has failed: it ends when the network releases its memory
};

// The chunks of a long message that have arrived. Senders stay within a grant: at most `ahead_max` chunks
// beyond the first missing one. So the memory does not depend on the length that a frame states.
class ChunkSet {
  public:
    static constexpr uint64_t ahead_max = 64; // bits of wire::Grant::seen

    void set_total(uint64_t chunks) { total_ = chunks; }
    [[nodiscard]] bool accepts(uint64_t chunk) const { return chunk < total_ && chunk <= next_ + ahead_max; }
    [[nodiscard]] bool contains(uint64_t chunk) const {
        if (chunk <= next_ || chunk - next_ > ahead_max) return chunk < next_;
        return (seen_ >> (chunk - next_ - 1) & 1U) != 0;
    }
    // For a chunk that is accepted and missing.
    void insert(uint64_t chunk) {
        if (chunk != next_) {
            seen_ |= uint64_t{1} << (chunk - next_ - 1);
            return;
        }
        bool has_next = true;
        while (has_next) {
            ++next_;
            has_next = (seen_ & 1U) != 0;
            seen_ >>= 1U;
        }
    }
    [[nodiscard]] uint64_t next() const { return next_; } // the first missing chunk
    [[nodiscard]] uint64_t seen() const { return seen_; } // bit 0: chunk next + 1
    [[nodiscard]] uint64_t total() const { return total_; }
    [[nodiscard]] bool complete() const { return next_ == total_; }

  private:
    uint64_t total_ = 0;
    uint64_t next_ = 0;
    uint64_t seen_ = 0;
};

struct ChunkedReceive : transport::IncomingBulk {
    Flow* flow = nullptr;
    uint64_t sequence = 0;
    uint64_t length = 0;
    ChunkSet chunks;
    bool posted = false;
    BufferRef to;
    bool buffer_exposed = false;       // the network may be writing to it
    std::span<const std::byte> first;  // data of chunk 0 during rts_arrived()
    std::vector<std::byte> early_data; // data before the receive is posted
    uint64_t grant_due_bytes = 0;
    uint64_t grant_due_ns = 0; // 0: no grant is due
    uint64_t last_heard_ns = 0;

    [[nodiscard]] wire::Grant grant() const { return {posted ? length : 0, chunks.next(), chunks.seen(), 0}; }
};

// A first frame, or chunks, that overtook earlier messages.
struct ReorderedFrame {
    bool has_first = false;
    wire::Frame frame{};
    wire::MessageHead head{};
    std::vector<std::byte> payload, data;
    std::map<uint64_t, std::vector<std::byte>> chunks; // by offset
};

// The paths of a flow.
struct FlowRoute {
    std::vector<int> paths;
    int last_path = -1;                // last used for sending
    int last_heard_path = -1;          // last used by the peer
    uint64_t partitioned_since_ns = 0; // without any path; 0: there is one
};

struct FlowSendState {
    FlowSendState() = default;
    ~FlowSendState(); // deletes its frames; flow_sender.cpp
    FlowSendState(const FlowSendState&) = delete;

    uint64_t base = 0;                // oldest unacknowledged sequence number
    std::deque<UnackedFrame*> window; // from base on; null: acknowledged
    uint64_t retained = 0;            // bytes of copies
    std::deque<UnackedFrame*> ready;  // to be (re)transmitted
    std::deque<ChunkedSend*> sending; // with chunks to send
    std::map<uint64_t, std::unique_ptr<ChunkedSend>> chunked_sends;
    std::vector<std::unique_ptr<ChunkedSend>> abandoned; // of a failed flow, still in the network
    bool in_send_queue = false;
    uint64_t sealed = 0; // number of frames encrypted
};

struct FlowReceiveState {
    uint64_t deliver_next = 0;
    std::map<uint64_t, ReorderedFrame> reordered;
    std::map<uint64_t, ChunkedReceive*> chunked_receives;

    [[nodiscard]] bool has_seen(uint64_t sequence) const {
        if (sequence < deliver_next) return true;
        const auto early = reordered.find(sequence);
        return early != reordered.end() && early->second.has_first;
    }
    [[nodiscard]] wire::AckBlock ack_block() const {
        wire::AckBlock ack{deliver_next, 0};
        for (const auto& [sequence, early] : reordered)
            if (early.has_first && sequence > deliver_next && sequence - deliver_next <= 64)
                ack.seen |= uint64_t{1} << (sequence - deliver_next - 1);
        return ack;
    }
    [[nodiscard]] wire::AckBitmap ack_bitmap() const {
        wire::AckBitmap ack{deliver_next, {}};
        for (const auto& [sequence, early] : reordered) {
            if (!early.has_first || sequence <= deliver_next) continue;
            const uint64_t bit = sequence - deliver_next - 1;
            if (bit < wire::flow_window) ack.seen[bit / 64] |= uint64_t{1} << bit % 64;
        }
        return ack;
    }
};

// The acknowledgement that is due.
struct DueAck {
    uint64_t bytes = 0;
    uint32_t messages = 0;
    uint64_t ns = 0; // when; 0: none
};

struct Flow {
    int world_rank = -1;
    Peer index = 0;
    Peer peer = 0; // its number in events
    bool failed = false;
    FlowRoute route;
    FlowSendState out;
    FlowReceiveState in;
    DueAck due_ack;
};

inline uint64_t chunks_of(uint64_t length) { return length == 0 ? 1 : (length - 1) / wire::frame_chunk + 1; }

} // namespace zipmpi::bridge
