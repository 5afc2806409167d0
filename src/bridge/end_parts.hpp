// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What an end keeps: frames that are not acknowledged, long messages, flows.
#pragma once

#include "bridge/end.hpp"

#include <cstring>

namespace zipmpi::bridge {

// A frame with data that may have to be sent again.
struct Piece {
    Flow* flow = nullptr;
    LongSend* message = nullptr; // whose memory the data is; null: a copy
    wire::FrameType type{};
    uint32_t context = 0;
    int32_t tag = 0;
    uint64_t sequence = 0, offset = 0, length = 0;
    std::byte head[sizeof(wire::MessageHead) + wire::inline_max];
    size_t head_bytes = 0;
    std::vector<std::byte> copy;
    std::span<const std::byte> data;
    int lane = -1;           // on which it was sent last; -1: it waits
    uint64_t lane_place = 0; // there
    uint64_t sent_ns = 0;
    uint32_t in_network = 0;                          // times that the network still has it
    std::vector<std::unique_ptr<std::byte[]>> sealed; // data of those times, encrypted
    uint32_t times = 0;                               // sent
    bool queued = false;
    bool acknowledged = false;
    bool notice = false; // its receiver can do without: he may have left
};

struct LongSend {
    Flow* flow = nullptr;
    uint64_t sequence = 0;
    uint32_t context = 0;
    int32_t tag = 0;
    Memory memory;
    uint64_t granted = 0;
    uint64_t chunks = 0;
    uint64_t next = 1;             // chunk to be sent
    uint32_t turn = 0;             // looks of push_chunk() at it
    uint64_t peer_next = 1;        // that the receiver misses
    uint32_t in_network = 0;       // frames of it
    uint64_t heard_ns = 0;         // of its receiver, or when it was asked
    std::vector<Piece*> under_way; // by chunk; null: not sent, or acknowledged
    bool first_acknowledged = false;
    bool complete = false;
    bool listed = false;   // in Flow::sending
    bool given_up = false; // its flow has failed: it ends when the network has let go of its memory
};

struct LongReceive {
    Flow* flow = nullptr;
    uint64_t sequence = 0;
    uint64_t length = 0;
    std::vector<bool> have;
    uint64_t next = 0; // first chunk that is missing
    uint64_t missing = 0;
    bool posted = false;
    bool dropped = false;
    Memory to;
    bool placed = false;              // the network may be writing to it
    std::span<const std::byte> first; // data of chunk 0 while the message is being announced
    std::vector<std::byte> early;     // data before the receive is known
    uint64_t owed_bytes = 0;
    uint64_t owed_ns = 0; // 0: no grant is owed
    uint64_t heard_ns = 0;

    [[nodiscard]] wire::Grant grant() const {
        wire::Grant g{posted ? length : 0, next, 0, 0};
        for (uint64_t i = 0; i < 64 && next + 1 + i < have.size(); ++i)
            if (have[next + 1 + i]) g.seen |= uint64_t{1} << i;
        return g;
    }
};

// A first frame, or chunks, that came before those of earlier messages.
struct Early {
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
    std::vector<int> lanes;
    int last_lane = -1;          // on which something was sent,
    int heard_lane = -1;         // on which something came
    uint64_t alone_since_ns = 0; // without a lane; 0: there is one
    // out
    uint64_t base = 0;             // the oldest that is not acknowledged
    std::deque<Piece*> window;     // from base on; null: acknowledged
    uint64_t retained = 0;         // bytes of copies
    std::deque<Piece*> ready;      // to be sent (again)
    std::deque<LongSend*> sending; // with chunks to be sent
    std::map<uint64_t, std::unique_ptr<LongSend>> long_sends;
    std::vector<std::unique_ptr<LongSend>> given_up; // of a flow that has failed, still with the network
    bool in_busy = false;
    uint64_t sealed = 0; // frames
    // in
    uint64_t deliver_next = 0;
    std::map<uint64_t, Early> early;
    std::map<uint64_t, LongReceive*> long_receives;
    uint64_t owed_bytes = 0;
    uint32_t owed_messages = 0;
    uint64_t owed_ns = 0; // when the ack is due; 0: none is owed
};

inline uint64_t chunks_of(uint64_t length) { return length == 0 ? 1 : (length - 1) / wire::frame_chunk + 1; }

} // namespace zipmpi::bridge
