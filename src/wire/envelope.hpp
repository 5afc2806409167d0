// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What travels between two ranks: one 64-byte line that holds the envelope and up to 40 bytes of payload. A
// longer message puts a description into the payload and its bytes elsewhere (a cell, or the user's buffer).
// docs/design/shared_memory.md draws the picture.
#pragma once

#include <cstddef>
#include <cstdint>

namespace zipmpi::wire {

inline constexpr size_t line_size = 64;
inline constexpr size_t inline_max = 40;
// With a cell, the last 8 bytes of the payload hold the CellRef.
inline constexpr size_t inline_max_with_cell = inline_max - 8;

// A line that continues a message has 60 bytes. More than four of them are slower than a cell.
inline constexpr size_t continuation_bytes = line_size - 4;
inline constexpr size_t max_more_lines = 4;
inline constexpr size_t lines_max = inline_max + max_more_lines * continuation_bytes;

enum class Kind : uint8_t {
    none = 0,
    eager = 1,     // the whole message: in the payload, or in the cell
    rts = 2,       // payload: Rts; a message waits at the sender; its first bytes may be in a cell
    cts = 3,       // payload: Cts; the receiver is ready for the message
    fragment = 4,  // payload: Fragment; a part of a message, in the cell
    ack = 5,       // payload: Ack; a synchronous send was matched, or its message was copied out
    withdraw = 6,  // payload: Withdraw; the sender wants a message back that is not matched yet
    withdrawn = 7, // payload: Withdraw; it was not, and is gone. A matched message gets no answer of its own
    help = 8,      // payload: Help; the receiver copies the message and would not mind help
    give_back = 9, // payload: a context that a rank on another host does not hold any more
    revoke = 10    // payload: the context of a communicator that a process of another job has seen revoked
};

// Flags of a message.
inline constexpr uint8_t flag_synchronous = 1; // the sender waits for an Ack
inline constexpr uint8_t flag_cell = 2;        // a CellRef closes the payload
inline constexpr uint8_t flag_lines = 4;       // the message goes on in the lines that follow

struct Envelope {
    Kind kind;
    uint8_t flags;
    uint8_t
        inline_bytes; // valid bytes of payload, without the CellRef; with flag_lines: bytes in the last line
    uint8_t more_lines; // with flag_lines: how many lines follow
    uint32_t context;   // which communicator, and point-to-point or collective
    int32_t source;     // sender's rank in that communicator
    int32_t tag;
    uint32_t sync_id; // with flag_synchronous: the sender's operation, to be named in the Ack
};
static_assert(sizeof(Envelope) == 20);

// Operation ids name an entry of the table of pending operations of the rank that made them. They carry a
// generation, so that a stale or invented one is recognised and dropped.
using OperationId = uint32_t;

struct CellRef {
    uint16_t cell;  // index into the sender's pool
    uint16_t turn;  // how many times it was used before, cut to 16 bits: the reader writes it back
    uint32_t bytes; // valid bytes in it
};

struct Rts {
    uint64_t bytes;
    uint64_t address; // of the message in the sender's memory; 0: it does not lie there in one piece
                      // and is not described
    uint64_t place;   // of the message in the sender's part of the node segment's file, plus 1; 0: not there
    OperationId sender;
    uint32_t
        described; // if not 0, the cell holds so many bytes that say where the message lies from address on
};

struct Cts {
    OperationId sender;
    OperationId receiver;
    uint64_t bytes; // how much the receiver wants: less than announced if its buffer is too short
};

struct Fragment {
    OperationId receiver;
    uint32_t reserved;
    uint64_t offset;
};

// The receiver has a JointCopy where both take chunks of the message. If its buffer has gaps, a cell says
// where the message goes from address on.
struct Help {
    OperationId sender;
    uint32_t joint;       // index of the JointCopy in the receiver's block
    uint32_t number;      // of the copy, to be found there
    uint32_t chunk_bytes; // all but the last chunk have so many
    uint64_t address;     // of the message's place in the receiver's memory
    uint64_t bytes;
};

struct Ack {
    OperationId sender;
};

struct Withdraw {
    OperationId sender;
    uint32_t context;
};

static_assert(sizeof(CellRef) == 8 && sizeof(Rts) == 32 && sizeof(Cts) == 16 && sizeof(Fragment) == 16 &&
              sizeof(Help) == 32 && sizeof(Ack) == 4 && sizeof(Withdraw) == 8);
static_assert(sizeof(Fragment) <= inline_max_with_cell && sizeof(Rts) <= inline_max_with_cell);

} // namespace zipmpi::wire
