// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// State of an endpoint: unacknowledged frames, long messages, flows.
#pragma once

#include "bridge/endpoint.hpp"

#include <cstring>

namespace zipmpi::bridge {

// A frame with data that may have to be retransmitted.
struct UnackedFrame {
    Flow* flow = nullptr;
    ChunkedSend* message = nullptr; // owner of the data; null: a copy
    wire::FrameType type{};
    uint32_t context = 0;
    int32_t tag = 0;
    uint64_t sequence = 0, offset = 0, length = 0;
    std::byte head[sizeof(wire::MessageHead) + wire::inline_max];
    size_t head_bytes = 0;
    std::vector<std::byte> copy;
    std::span<const std::byte> data;
    int path = -1;           // of the last transmission; -1: queued
    uint64_t path_index = 0; // index in Path::frames
    uint64_t sent_ns = 0;
    uint32_t in_network = 0;                          // transmissions not yet finished by the network
    std::vector<std::unique_ptr<std::byte[]>> sealed; // encrypted data of these transmissions
    uint32_t transmissions = 0;
    bool queued = false;
    bool acknowledged = false;
    bool best_effort = false; // the receiver may already have exited
};

struct ChunkedSend {
    Flow* flow = nullptr;
    uint64_t sequence = 0;
    uint32_t context = 0;
    int32_t tag = 0;
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
    bool listed = false;    // in Flow::sending
    bool abandoned = false; // its flow has failed: it ends when the network releases its memory
};

struct ChunkedReceive : transport::IncomingBulk {
    Flow* flow = nullptr;
    uint64_t sequence = 0;
    uint64_t length = 0;
    std::vector<bool> have;
    uint64_t next = 0; // first missing chunk
    uint64_t missing = 0;
    bool posted = false;
    bool dropped = false;
    BufferRef to;
    bool buffer_exposed = false;       // the network may be writing to it
    std::span<const std::byte> first;  // data of chunk 0 during rts_arrived()
    std::vector<std::byte> early_data; // data before the receive is posted
    uint64_t grant_due_bytes = 0;
    uint64_t grant_due_ns = 0; // 0: no grant is due
    uint64_t last_heard_ns = 0;

    [[nodiscard]] wire::Grant grant() const {
        wire::Grant g{posted ? length : 0, next, 0, 0};
        for (uint64_t i = 0; i < 64 && next + 1 + i < have.size(); ++i)
            if (have[next + 1 + i]) g.seen |= uint64_t{1} << i;
        return g;
    }
};

// A first frame, or chunks, that overtook earlier messages.
struct ReorderedFrame {
    bool has_first = false;
    wire::Frame frame{};
    wire::MessageHead head{};
    std::vector<std::byte> payload, data;
    std::map<uint64_t, std::vector<std::byte>> chunks; // by offset
};

struct Flow {
    int world_rank = -1;
    Peer index = 0;
    bool failed = false;
    std::vector<int> paths;
    int last_path = -1;                // last used for sending
    int last_heard_path = -1;          // last used by the peer
    uint64_t partitioned_since_ns = 0; // without any path; 0: there is one
    // out
    uint64_t base = 0;                // oldest unacknowledged sequence number
    std::deque<UnackedFrame*> window; // from base on; null: acknowledged
    uint64_t retained = 0;            // bytes of copies
    std::deque<UnackedFrame*> ready;  // to be (re)transmitted
    std::deque<ChunkedSend*> sending; // with chunks to send
    std::map<uint64_t, std::unique_ptr<ChunkedSend>> chunked_sends;
    std::vector<std::unique_ptr<ChunkedSend>> abandoned; // of a failed flow, still in the network
    bool in_send_queue = false;
    uint64_t sealed = 0; // number of frames encrypted
    // in
    uint64_t deliver_next = 0;
    std::map<uint64_t, ReorderedFrame> reordered;
    std::map<uint64_t, ChunkedReceive*> chunked_receives;
    uint64_t ack_due_bytes = 0;
    uint32_t ack_due_messages = 0;
    uint64_t ack_due_ns = 0; // when the ack is due; 0: none
};

inline uint64_t chunks_of(uint64_t length) { return length == 0 ? 1 : (length - 1) / wire::frame_chunk + 1; }

} // namespace zipmpi::bridge
