// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Messages of the network engine ofi: a head, followed by records, or by a handshake message
// (net_layout.hpp). Little endian; docs/wire/network.md.
#pragma once

#include "wire/frame_layout.hpp"
#include "wire/net_layout.hpp"

namespace zipmpi::wire {

inline constexpr uint64_t ofi_handshake = 0; // token of handshake messages

struct OfiHead {
    uint64_t token;  // issued by the receiver
    uint32_t number; // of this sender's messages with records to this receiver, from 1
    uint32_t unused;
};
static_assert(sizeof(OfiHead) == 16);

enum class OfiRecordKind : uint32_t {
    message = 1, // data: of the message
    rts,         // data: OfiBulk; its bytes stay at the sender
    pull,        // data: OfiBulk; requests the bytes of an rts
    refuse,      // data: OfiBulk; declines them
    frame,       // data: a frame to or from a gateway
    offer,       // data: the offer of a stream
    leaving,     // no data; the sender may end from now on
};

// Followed by the payload of the envelope and by data.
struct OfiRecord {
    OfiRecordKind kind;
    uint32_t data_bytes;
    Envelope envelope; // of message and rts
};
static_assert(sizeof(OfiRecord) == 28);

struct OfiBulk {
    uint64_t number; // assigned by the sender of the bytes
    uint64_t bytes;  // in an rts
    uint64_t tag;    // in a pull: of the tagged messages that carry the bytes
};

inline constexpr unsigned ofi_tag_bits = 48;               // the tags of some devices are not longer
inline constexpr uint64_t ofi_segment_bytes = 16ULL << 20; // of a tagged message, except the last
inline constexpr size_t ofi_message_max =
    sizeof(OfiHead) + sizeof(OfiRecord) + frame_head_max + frame_small + frame_chunk;
static_assert(ofi_message_max >= sizeof(OfiHead) + sizeof(OfiRecord) + inline_max + frame_chunk);

} // namespace zipmpi::wire
