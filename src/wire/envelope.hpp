// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Messages between two ranks: a 64-byte slot holds the envelope and up to 40 bytes of payload. For longer
// messages the payload describes where the data is (a cell or the user's buffer). Diagram:
// docs/design/shared_memory.md.
#pragma once

#include <cstddef>
#include <cstdint>

namespace zipmpi::wire {

inline constexpr size_t cache_line = 64;
inline constexpr size_t inline_max = 40;
// With a cell, the last 8 bytes of the payload hold the CellRef.
inline constexpr size_t inline_max_with_cell = inline_max - 8;

// A continuation slot has 60 bytes. More than four of them are slower than a cell.
inline constexpr size_t slot_continuation_bytes = cache_line - 4;
inline constexpr size_t max_extra_slots = 4;
inline constexpr size_t multislot_max = inline_max + max_extra_slots * slot_continuation_bytes;

enum class MessageKind : uint8_t {
    none = 0,
    eager = 1,      // the whole message: in the payload, or in the cell
    rts = 2,        // payload: Rts; rendezvous request; the first bytes may be in a cell
    cts = 3,        // payload: Cts; the receive is matched and the receiver ready
    fragment = 4,   // payload: Fragment; a fragment of a message, in the cell
    ack = 5,        // payload: Ack; a synchronous send was matched, or a rendezvous message was copied
    cancel = 6,     // payload: Cancel; the sender cancels a message that is not matched yet
    cancelled = 7,  // payload: Cancel; the message is discarded, or (other host, tag 1) was matched already
    coop_offer = 8, // payload: CoopOffer; receiver offers the sender to copy chunks cooperatively
    context_release = 9, // payload: a context released by a rank on another host
    // payload: context of a communicator that the sender, a process of another job, has seen revoked
    revoke = 10,
    hold_eager = 11 // payload: HoldEager; the receiver limits or releases eager messages of this sender
};

// Message flags.
inline constexpr uint8_t flag_synchronous = 1; // the sender waits for an Ack
inline constexpr uint8_t flag_cell = 2;        // a CellRef is at the end of the payload
inline constexpr uint8_t flag_multislot = 4;   // the message continues in the following slots
// With flag_synchronous: number of nonblocking barriers of the communicator that the sender's program had
// completed, modulo 32 (core/comm/barrier_rounds.hpp).
inline constexpr int round_shift = 3;
inline constexpr uint8_t round_mask = 0xf8;
inline constexpr uint8_t flags_between_hosts = flag_synchronous | round_mask; // others apply within a node

struct Envelope {
    MessageKind kind;
    uint8_t flags;
    uint8_t inline_bytes; // valid payload bytes without CellRef; with flag_multislot: bytes in the last slot
    uint8_t extra_slots;  // with flag_multislot: number of continuation slots
    uint32_t context;     // communicator, and point-to-point or collective
    int32_t source;       // sender's rank in that communicator
    int32_t tag;
    uint32_t sync_id; // with flag_synchronous: the sender's operation id, returned in the Ack
};
static_assert(sizeof(Envelope) == 20);

// Index into the table of pending operations of the rank that created it, with a generation, so that stale or
// invalid ids are detected and dropped.
using OperationId = uint32_t;

struct CellRef {
    uint16_t cell; // index into the sender's pool
    // uses including this one, modulo 2^16; the reader writes it back to release the cell
    uint16_t generation;
    uint32_t bytes; // valid bytes in it
};

struct Rts {
    uint64_t bytes;
    uint64_t address;      // of the message in the sender's memory; 0: noncontiguous without layout
    uint64_t arena_offset; // 1 + offset of the message in the sender's arena; 0: not in the arena
    OperationId sender;
    // size of the serialized layout in the cell, relative to address; 0: the cell holds the first bytes, or
    // there is none
    uint32_t layout_bytes;
};

struct Cts {
    OperationId sender;
    OperationId receiver;
    uint64_t bytes; // bytes requested; less than in the Rts if the receive buffer is too short
};

struct Fragment {
    OperationId receiver;
    uint32_t reserved;
    uint64_t offset;
};

// Offer to copy cooperatively: both ranks take chunks through a CoopCopySlot of the receiver. For a
// noncontiguous receive buffer a cell holds the serialized layout relative to address.
struct CoopOffer {
    OperationId sender;
    uint32_t slot;        // index of the CoopCopySlot in the receiver's block
    uint32_t number;      // of the copy, as stored in the slot
    uint32_t chunk_bytes; // of all chunks but the last
    uint64_t address;     // of the receive buffer in the receiver's memory
    uint64_t bytes;
};

struct Ack {
    OperationId sender;
};

struct Cancel {
    OperationId sender;
    uint32_t context;
};

// The receiver's memory for messages without a receive is used up: until it asks to resume, sends to it
// complete when they are matched, and bytes beyond multislot_max stay at the sender.
struct HoldEager {
    uint32_t hold; // 1: hold, 0: resume
};

static_assert(sizeof(CellRef) == 8 && sizeof(Rts) == 32 && sizeof(Cts) == 16 && sizeof(Fragment) == 16 &&
              sizeof(CoopOffer) == 32 && sizeof(Ack) == 4 && sizeof(Cancel) == 8 && sizeof(HoldEager) == 4);
static_assert(sizeof(Fragment) <= inline_max_with_cell && sizeof(Rts) <= inline_max_with_cell);

} // namespace zipmpi::wire
