// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Trace files: one per rank, a header and records in the order in which the calls returned. Written by
// src/trace, read by `zipmpi trace`.
#pragma once

#include <cstdint>
#include <type_traits>

namespace zipmpi::wire {

inline constexpr uint64_t trace_magic = 0x3165636172747a7aU; // "zztrace1"
inline constexpr int32_t trace_no_peer = -1;
inline constexpr const char* trace_suffix = ".trace"; // file JOB.RANK.trace

enum class TraceKind : uint16_t {
    call,             // no message of its own
    send,             // a call that sends one message
    receive,          // a call that receives one message
    collective,       // a blocking collective
    collective_start, // a nonblocking collective
    sent,             // message of a call with several: not a call
    received,         // message that a call completed: start is when the receive was posted; not a call
};

struct TraceRecord {
    uint64_t start, end; // ticks
    uint64_t bytes;
    uint32_t comm;     // equal in all members of a communicator; 0: none
    int32_t peer;      // rank in MPI_COMM_WORLD, or trace_no_peer
    int32_t tag;       // of a message
    uint16_t function; // id in the function table
    uint16_t kind;     // TraceKind
};
static_assert(sizeof(TraceRecord) == 40);

// One moment in ticks and on the clock of the host, and the distance of that clock from the one of rank
// 0.
struct TraceClock {
    uint64_t ticks;
    uint64_t ns;
    int64_t offset_ns; // to add to ns
};

struct TraceHeader {
    uint64_t magic;
    uint32_t functions; // number of functions in the table of the writer
    uint32_t rank, ranks;
    uint32_t pid;
    uint32_t complete; // 1: the rank has closed the file
    uint32_t reserved;
    uint64_t dropped;   // records beyond the limit of the file
    uint64_t untracked; // requests beyond the limit of the table: their messages are missing
    TraceClock first, last;
    char job[64];
    char host[64];
};
static_assert(std::is_trivially_copyable_v<TraceHeader>);

} // namespace zipmpi::wire
