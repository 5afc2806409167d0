// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What travels between two ranks in different clusters, through gateways: frames that describe themselves.
// Little endian; docs/wire/bridge.md.
#pragma once

#include "wire/envelope.hpp"

#include <cstddef>
#include <cstdint>

namespace zipmpi::wire {

enum class FrameType : uint8_t {
    message = 1, // a message, or the beginning of a long one: MessageHead, payload, data
    chunk = 2,   // data of a long message, from `offset` on
    ack = 3,     // AckBitmap
    grant = 4,   // Grant, for the long message `sequence`
    credit = 5,  // from one hop to the one before: `length` more bytes may be sent
    beat = 6,    // from one hop to the next, which sends it back with frame_answer
    news = 7     // from a gateway to those beside it: News
};

inline constexpr uint16_t frame_magic = 0x315a; // "Z1": the layout below
inline constexpr uint8_t frame_has_ack = 1;     // an AckBlock follows the header
inline constexpr uint8_t frame_answer = 2;
inline constexpr uint8_t frame_sealed = 4; // a Seal follows, and the data is encrypted end to end
inline constexpr uint8_t frame_flags = frame_has_ack | frame_answer | frame_sealed;
inline constexpr uint8_t frame_hops = 32; // as many gateways as a frame may cross

struct Frame {
    uint16_t magic;
    FrameType type;
    uint8_t flags;
    uint16_t epoch; // of the flow
    uint8_t hops;   // that it may still make
    uint8_t lane;   // of the sender: which gateway it was given to
    uint64_t job;
    int32_t from; // ids: world ranks, then gateways
    int32_t to;
    uint32_t context;
    int32_t tag;
    uint64_t sequence; // of the message among those of this flow, from 0
    uint64_t offset;   // of the data in the message
    uint64_t length;   // of the data of the whole message
    uint32_t bytes;    // that follow this header
    uint32_t checksum; // CRC-32C of all before
};
static_assert(sizeof(Frame) == 64 && offsetof(Frame, checksum) == 60);

// All messages below `next` have come; of those after it, those whose bit is set (bit 0: next + 1).
struct AckBlock {
    uint64_t next;
    uint64_t seen;
};
static_assert(sizeof(AckBlock) == 16);

inline constexpr size_t ack_words = 16;
inline constexpr uint64_t flow_window = ack_words * 64; // first frames under way in a flow
struct AckBitmap {
    uint64_t next;
    uint64_t seen[ack_words];
};
static_assert(sizeof(AckBitmap) == 136);

// The part of an envelope that is not in the frame's header.
struct MessageHead {
    Kind kind;
    uint8_t flags;
    uint8_t inline_bytes;
    uint8_t is_long; // chunks follow as far as they are granted, and the rest when they are
    int32_t source;
    uint32_t sync_id;
};
static_assert(sizeof(MessageHead) == 12);

// How far the receiver of a long message is. Chunk 0 came with the message.
struct Grant {
    uint64_t granted;  // data up to here may be sent
    uint64_t next;     // all chunks below it have come
    uint64_t seen;     // bit 0: chunk next + 1
    uint64_t complete; // 1: nothing more is wanted
};
static_assert(sizeof(Grant) == 32);

struct News {
    int32_t cluster;
    int32_t distance; // gateways to it, this one included; 0: there is no way
};
static_assert(sizeof(News) == 8);

inline constexpr size_t seal_tag_bytes = 16;
// Before the encrypted part, which is all that follows. What is before it is covered as it left the sender,
// but for hops, lane and checksum.
struct Seal {
    uint64_t number; // of sealed frames from one rank to another: no two have the same
    uint8_t tag[seal_tag_bytes];
};
static_assert(sizeof(Seal) == 24);

inline constexpr size_t frame_chunk = 128 * 1024;
inline constexpr size_t frame_head_max =
    sizeof(Frame) + sizeof(AckBlock) + sizeof(Seal) + sizeof(MessageHead) + inline_max;
inline constexpr size_t frame_small = 512; // data up to here travels in one part with what is before it
inline constexpr size_t frame_payload_max = frame_head_max - sizeof(Frame) + frame_chunk;
inline constexpr uint64_t frame_length_max = uint64_t{1} << 62;

} // namespace zipmpi::wire
