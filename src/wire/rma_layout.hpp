// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// RMA operations as active messages, for targets whose memory is not directly accessible. An origin collects
// requests to one target in a batch; the target executes them in order and replies if requested.
//
//   batch: RmaBatch | requests, each: RmaRequest | RmaSegment[extra_segments] | data, padded to 16 bytes
//   reply: RmaBatchReply | replies, each: RmaReply | data, padded to 16 bytes
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
    lock_shared, // later requests wait until the origin has the lock
    lock_exclusive,
    unlock,
    complete, // MPI_Win_complete
    notify,   // MPIX_Win_fence_neighbors: the origin's operations of the epoch are all before it
    // A writer (yield_lock) or reader (admit_readers) waits for the network lock held by the target's node.
    yield_lock,
    admit_readers,
    notice_lost // the connection failed before it carried a fence notification
};

struct RmaBatch {
    uint32_t number; // of the batch from this origin to this target, from 1
    uint32_t epoch;  // fences completed by the origin
    uint32_t flags;
    uint32_t reserved;
};
inline constexpr uint32_t rma_wants_reply = 1;
inline constexpr uint32_t rma_posts = 2; // MPI_Win_post only: not numbered, not delayed
// The origin's endpoint of an RDMA connection follows as text; not numbered.
inline constexpr uint32_t rma_connects = 4;
// One request follows, yield_lock, admit_readers or notice_lost; not numbered, so that it does not delay
// other batches of its origin, on which the holder of the lock may depend.
inline constexpr uint32_t rma_out_of_band = 8;

// Segment of the target's window; offset from its first byte, in a dynamic window from address 0.
struct RmaSegment {
    uint64_t offset;
    uint64_t bytes;
};

struct RmaRequest {
    RmaKind kind;
    uint8_t reserved;
    uint16_t extra_segments; // segments that follow
    uint32_t op;             // reduction operator and element type, internal encoding
    uint32_t id;             // of a fetching request; returned in the reply
    uint32_t data_bytes;     // bytes that follow; compare_and_swap: compare value, then new value
    RmaSegment segment;
};

struct RmaBatchReply {
    uint32_t served;  // all batches up to this number are executed
    uint32_t refused; // requests without reply that were not executed since the last reply
    uint32_t flags;
    uint32_t reserved;
};
// The target's endpoint follows as text, empty if no connection is possible; `served` is not valid.
inline constexpr uint32_t rma_connected = 1;
// A lock was refused since the last reply: a failed member may hold it.
inline constexpr uint32_t rma_lock_refused = 2;

// RDMA access information of a window member, exchanged between all members.
inline constexpr size_t rma_key_bytes = 56;
struct RmaKeys {
    uint32_t usable;   // nonzero: all memory is registered
    uint32_t coherent; // nonzero: device atomics are atomic with respect to CPU atomics
    uint64_t region;   // addresses of window memory and of NetworkLock, behind which is the count of notices
    uint64_t lock;
    uint8_t region_key_bytes;
    uint8_t lock_key_bytes;
    uint8_t ordered; // nonzero: its device executes puts and atomics of a connection in order
    uint8_t reserved[5];
    char region_key[rma_key_bytes];
    char lock_key[rma_key_bytes];
};
static_assert(sizeof(RmaKeys) == 144);

enum class RmaRefusal : uint32_t { none, out_of_window, failed_member };
struct RmaReply {
    uint32_t id;
    RmaRefusal refused; // not `none`: the request was not executed
    uint64_t bytes;
};

static_assert(sizeof(RmaBatch) == 16 && sizeof(RmaRequest) == 32 && sizeof(RmaSegment) == 16 &&
              sizeof(RmaBatchReply) == 16 && sizeof(RmaReply) == 16);

inline constexpr size_t rma_message_bytes = 65536; // largest batch or reply
inline constexpr uint32_t rma_request_segments = 128;
inline constexpr size_t rma_alignment = 16;
inline constexpr size_t rma_padded(size_t bytes) {
    return (bytes + rma_alignment - 1) / rma_alignment * rma_alignment;
}

} // namespace zipmpi::wire
