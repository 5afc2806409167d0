// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The flight recorder as it lies in the node segment: one per rank, written by that rank only, read by the
// launcher at any moment, also after the rank's death. Plain relaxed atomics: a reader may see a torn picture
// of a call that is just being entered, never of one that hangs.
#pragma once

#include <atomic>
#include <cstdint>

namespace zipmpi {

inline constexpr uint32_t recorder_calls = 64;        // last calls kept
inline constexpr uint32_t recorder_waits = 16;        // pending operations described
inline constexpr uint32_t recorder_comms = 32;        // communicator names kept
inline constexpr int32_t recorder_none = -2147483647; // "this call has no peer / no tag"
inline constexpr int32_t recorder_any = -2147483646;  // wildcard

// One MPI call. function is an index into the generated function table (0 = none).
struct CallRecord {
    std::atomic<uint32_t> function;
    std::atomic<int32_t> peer;     // rank in the communicator, or recorder_none / recorder_any
    std::atomic<int32_t> tag;      // or recorder_none / recorder_any
    std::atomic<uint32_t> context; // which communicator, 0 = none
};
static_assert(sizeof(CallRecord) == 16);

enum class WaitKind : uint32_t { none, send, recv, collective, other };

// One operation that a blocked call waits for. Written when the rank goes to sleep, not before: a call that
// is fast never pays for it.
struct WaitRecord {
    std::atomic<uint32_t> kind;      // WaitKind
    std::atomic<int32_t> peer;       // rank in the communicator
    std::atomic<int32_t> world_peer; // the same as a rank of MPI_COMM_WORLD, or recorder_any
    std::atomic<int32_t> tag;
    std::atomic<uint32_t> context;
    std::atomic<uint32_t> sequence; // collectives: the how-manieth on this communicator
    std::atomic<uint64_t> bytes;
};
static_assert(sizeof(WaitRecord) == 32);

struct CommName {
    std::atomic<uint32_t> context; // 0 = free
    char name[44];                 // cut if longer
};
static_assert(sizeof(CommName) == 48);

struct alignas(64) Recorder {
    std::atomic<uint64_t> call_count;      // calls entered so far; calls[(call_count - 1) % 64] is the newest
    std::atomic<uint32_t> inside;          // function the rank is in now, 0 = in user code
    std::atomic<uint32_t> asleep;          // 1 while blocked in a wait; then waits[] is valid
    std::atomic<uint64_t> asleep_since_ns; // CLOCK_MONOTONIC
    std::atomic<uint32_t> wait_count;      // pending operations in all; the first 16 are in waits[]
    std::atomic<uint32_t> progress;        // ticks whenever something completes
    // A message that lies unreceived beside the first receive of waits[]: the right sender, another tag or
    // communicator. Valid while asleep.
    std::atomic<uint32_t> stray_context; // 0 = there is none
    std::atomic<int32_t> stray_tag;
    std::atomic<uint32_t> stray_from; // place of the sender on this node
    uint8_t reserved[20];
    CallRecord calls[recorder_calls];
    WaitRecord waits[recorder_waits];
    CommName comms[recorder_comms];
    char abort_text[256]; // what the rank said last before it ended itself, or empty
};
static_assert(sizeof(Recorder) <= 4096);

} // namespace zipmpi
