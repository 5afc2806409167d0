// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Layout of the flight recorder in the node segment: one per rank, written by that rank only, read by the
// launcher at any time, also after the rank has died. Fields are relaxed atomics: a reader may see an
// inconsistent record of a call that is just being entered, never of one that hangs.
#pragma once

#include <atomic>
#include <cstdint>

namespace zipmpi {

inline constexpr uint32_t recorder_calls = 64;        // last calls kept
inline constexpr uint32_t recorder_waits = 16;        // pending operations described
inline constexpr uint32_t recorder_comms = 32;        // communicator names kept
inline constexpr int32_t recorder_none = -2147483647; // the call has no peer or no tag
inline constexpr int32_t recorder_any = -2147483646;  // wildcard

// One MPI call. function is an index into the generated function table (0 = none).
struct CallRecord {
    std::atomic<uint32_t> function;
    std::atomic<int32_t> peer;     // rank in the communicator, or recorder_none / recorder_any
    std::atomic<int32_t> tag;      // or recorder_none / recorder_any
    std::atomic<uint32_t> context; // communicator; 0: none
};
static_assert(sizeof(CallRecord) == 16);

enum class WaitKind : uint32_t { none, send, recv, collective, other };

// One operation that a blocked call waits for. Written only when the rank goes to sleep, so fast calls do not
// pay for it.
struct WaitRecord {
    std::atomic<uint32_t> kind;      // WaitKind
    std::atomic<int32_t> peer;       // rank in the communicator
    std::atomic<int32_t> world_peer; // rank of the peer in MPI_COMM_WORLD, or recorder_any
    std::atomic<int32_t> tag;
    std::atomic<uint32_t> context;
    std::atomic<uint32_t> sequence; // 1-based index of the collective on this communicator
    std::atomic<uint64_t> bytes;
};
static_assert(sizeof(WaitRecord) == 32);

struct CommName {
    std::atomic<uint32_t> context; // 0 = free
    char name[44];                 // truncated if longer
};
static_assert(sizeof(CommName) == 48);

struct alignas(64) Recorder {
    std::atomic<uint64_t> call_count; // calls entered so far; calls[(call_count - 1) % 64] is the newest
    std::atomic<uint32_t> current_function; // function the rank is in now, 0 = in user code
    std::atomic<uint32_t> asleep;           // 1 while blocked in a wait; then waits[] is valid
    std::atomic<uint64_t> asleep_since_ns;  // CLOCK_MONOTONIC
    std::atomic<uint32_t> wait_count;       // all pending operations; the first 16 are in waits[]
    std::atomic<uint32_t> progress;         // incremented when an operation completes
    // Unexpected message that almost matches the first receive of waits[]: same sender, different tag or
    // communicator. Valid while asleep.
    std::atomic<uint32_t> near_miss_context; // 0: none
    std::atomic<int32_t> near_miss_tag;
    std::atomic<uint32_t> near_miss_source; // local index of the sender
    uint8_t reserved[20];
    CallRecord calls[recorder_calls];
    WaitRecord waits[recorder_waits];
    CommName comms[recorder_comms];
    char abort_text[256]; // last message of a rank that aborted, or empty
};
static_assert(sizeof(Recorder) <= 4096);

} // namespace zipmpi
