// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One-sided operations as messages, where the target's memory cannot be reached. An origin collects requests
// to one target in a batch; the target does them in order and answers, if anybody wants that.
//
//   batch:   RmaBatch  | requests, each: RmaRequest | RmaPiece[more_pieces] | data, filled up to 16 bytes
//   answer:  RmaAnswer | replies, each:  RmaReply | data, filled up to 16 bytes
#pragma once

#include <cstddef>
#include <cstdint>

namespace zipmpi::wire {

enum class RmaKind : uint8_t {
    put,
    get,
    accumulate,
    get_accumulate,
    compare_and_swap,
    lock_shared, // what follows waits until the origin has the lock
    lock_exclusive,
    unlock,
    complete, // MPI_Win_complete
    // The lock that the target's node keeps from the network is waited for there, by a writer or a reader.
    give_way,
    let_readers_in
};

struct RmaBatch {
    uint32_t number; // among the batches from this origin to this target, from 1
    uint32_t epoch;  // fences that the origin has passed
    uint32_t flags;
    uint32_t reserved;
};
inline constexpr uint32_t rma_wants_answer = 1;
inline constexpr uint32_t rma_posts = 2; // MPI_Win_post, and nothing else: has no number, does not wait
// The origin's end of a connection between devices follows as text; no number either.
inline constexpr uint32_t rma_connects = 4;
// One request follows, give_way or let_readers_in; no number: what it waits for may wait for the other
// batches of its origin.
inline constexpr uint32_t rma_apart = 8;

// A part of the target's window, from its first byte; of a dynamic window, from address 0.
struct RmaPiece {
    uint64_t offset;
    uint64_t bytes;
};

struct RmaRequest {
    RmaKind kind;
    uint8_t reserved;
    uint16_t more_pieces; // that follow
    uint32_t combine;     // how elements are combined, in the coding of the engine
    uint32_t id;          // of what fetches: comes back in the reply
    uint32_t data_bytes;  // that follow; compare_and_swap: first what is compared with, then what is stored
    RmaPiece piece;
};

struct RmaAnswer {
    uint32_t served;  // the batch up to which all is done
    uint32_t refused; // requests without a reply that were not in the window, since the last answer
    uint32_t flags;
    uint32_t reserved;
};
// The target's end of a connection follows as text, empty if there can be none; says nothing about batches.
inline constexpr uint32_t rma_connected = 1;

// What each member of a window tells all others of its memory as devices see it.
inline constexpr size_t rma_key_bytes = 56;
struct RmaCard {
    uint32_t usable;   // not 0: everything was exposed
    uint32_t coherent; // atomics of the device and of CPUs may meet
    uint64_t region;   // addresses
    uint64_t lock;
    uint8_t region_key_bytes;
    uint8_t lock_key_bytes;
    uint8_t reserved[6];
    char region_key[rma_key_bytes];
    char lock_key[rma_key_bytes];
};
static_assert(sizeof(RmaCard) == 144);

struct RmaReply {
    uint32_t id;
    uint32_t refused; // not 0: the pieces are not in the window, nothing was done
    uint64_t bytes;
};

static_assert(sizeof(RmaBatch) == 16 && sizeof(RmaRequest) == 32 && sizeof(RmaPiece) == 16 &&
              sizeof(RmaAnswer) == 16 && sizeof(RmaReply) == 16);

inline constexpr size_t rma_message_bytes = 65536; // the longest batch or answer
inline constexpr uint32_t rma_request_pieces = 128;
inline constexpr size_t rma_alignment = 16;
inline constexpr size_t rma_filled(size_t bytes) {
    return (bytes + rma_alignment - 1) / rma_alignment * rma_alignment;
}

} // namespace zipmpi::wire
