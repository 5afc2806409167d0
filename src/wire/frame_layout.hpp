// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Self-contained frames between ranks in different clusters, forwarded by gateways. Little endian;
// docs/wire/bridge.md.
#pragma once

#include "wire/envelope.hpp"

#include <cstddef>
#include <cstdint>

namespace zipmpi::wire {

enum class FrameType : uint8_t {
    message = 1,     // a message, or the beginning of a chunked one: MessageHead, payload, data
    chunk = 2,       // data of a chunked message, starting at `offset`
    ack = 3,         // AckBitmap
    grant = 4,       // Grant, for the chunked message `sequence`
    credit = 5,      // from a hop to the previous one: `length` more bytes may be sent
    heartbeat = 6,   // from a hop to the next, which returns it with frame_reply
    route_update = 7 // from a gateway to its neighbors: RouteUpdate
};

inline constexpr uint16_t frame_magic = 0x315a; // "Z1": the layout below
inline constexpr uint8_t frame_has_ack = 1;     // an AckBlock follows the header
inline constexpr uint8_t frame_reply = 2;
inline constexpr uint8_t frame_encrypted = 4; // an AeadHeader follows; the data is encrypted end to end
inline constexpr uint8_t frame_has_data_checksum = 8; // a DataChecksum follows
inline constexpr uint8_t frame_flags =
    frame_has_ack | frame_reply | frame_encrypted | frame_has_data_checksum;
inline constexpr uint8_t frame_hops = 32; // maximum number of gateways on a path

struct Frame {
    uint16_t magic;
    FrameType type;
    uint8_t flags;
    uint16_t epoch; // of the flow
    uint8_t hops;   // remaining hops
    uint8_t path;   // sender's path: the gateway that received the frame first
    uint64_t job;
    int32_t from; // id: world rank, or number of ranks + gateway
    int32_t to;
    uint32_t context;
    int32_t tag;
    uint64_t sequence; // of the message in this flow, from 0
    uint64_t offset;   // of the data in the message
    uint64_t length;   // of the data of the whole message
    uint32_t bytes;    // that follow this header
    uint32_t checksum; // CRC-32C of the preceding fields
};
static_assert(sizeof(Frame) == 64 && offsetof(Frame, checksum) == 60);

// All messages below `next` were received, and those after it whose bit is set (bit 0: next + 1).
struct AckBlock {
    uint64_t next;
    uint64_t seen;
};
static_assert(sizeof(AckBlock) == 16);

inline constexpr size_t ack_words = 16;
inline constexpr uint64_t flow_window = ack_words * 64; // first frames in flight in a flow
struct AckBitmap {
    uint64_t next;
    uint64_t seen[ack_words];
};
static_assert(sizeof(AckBitmap) == 136);

// Fields of an envelope that are not in the frame header.
struct MessageHead {
    MessageKind kind;
    uint8_t flags;
    uint8_t inline_bytes;
    uint8_t chunked; // 1: chunks follow as they are granted
    int32_t source;
    uint32_t sync_id;
};
static_assert(sizeof(MessageHead) == 12);

// Receive state of a chunked message. Chunk 0 arrives with the message.
struct Grant {
    uint64_t granted;  // data below this offset may be sent
    uint64_t next;     // all chunks below it were received
    uint64_t seen;     // bit 0: chunk next + 1
    uint64_t complete; // 1: no more data is needed
};
static_assert(sizeof(Grant) == 32);

struct RouteUpdate {
    int32_t cluster;
    int32_t distance; // gateways on the path to it, including this one; 0: no path
};
static_assert(sizeof(RouteUpdate) == 8);

inline constexpr size_t aead_tag_bytes = 16;
// Precedes the encrypted bytes, which extend to the end of the frame. The bytes before it are authenticated
// as sent, except hops, path and checksum.
struct AeadHeader {
    uint64_t number; // unique among encrypted frames from one process to a rank
    uint64_t salt;   // of the sending process: another program in its rank's place has another key
    uint8_t tag[aead_tag_bytes];
};
static_assert(sizeof(AeadHeader) == 32);

// In frames between ranks that are not encrypted: CRC-32C of the header and AckBlock as sent, except magic,
// hops, path and checksum, and of all bytes that follow. Written and checked by the two endpoints only.
struct DataChecksum {
    uint32_t value;
    uint32_t unused;
};
static_assert(sizeof(DataChecksum) == 8 && sizeof(DataChecksum) <= sizeof(AeadHeader));

inline constexpr size_t frame_chunk = 128 * 1024;
inline constexpr size_t frame_head_max =
    sizeof(Frame) + sizeof(AckBlock) + sizeof(AeadHeader) + sizeof(MessageHead) + inline_max;
inline constexpr size_t frame_small = 512; // data up to this size is sent in one buffer with the headers
inline constexpr size_t frame_payload_max = frame_head_max - sizeof(Frame) + frame_chunk;
inline constexpr uint64_t frame_length_max = uint64_t{1} << 62;

} // namespace zipmpi::wire
