// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The traces of all ranks of a job, on the clock of rank 0.
#pragma once

#include "base/diagnostic.hpp"
#include "wire/trace_layout.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace zipmpi::tool {

struct TraceEvent {
    int64_t start, end; // ns since the start of the first rank
    uint64_t bytes;
    uint32_t comm;
    int32_t peer, tag;
    uint16_t function;
    wire::TraceKind kind;

    // A message of another call's record is not a call.
    [[nodiscard]] bool is_call() const {
        return kind != wire::TraceKind::sent && kind != wire::TraceKind::received;
    }
    [[nodiscard]] bool is_send() const {
        return kind == wire::TraceKind::send || kind == wire::TraceKind::sent;
    }
    [[nodiscard]] bool is_receive() const {
        return kind == wire::TraceKind::receive || kind == wire::TraceKind::received;
    }
};

struct RankTrace {
    uint32_t rank = 0, pid = 0;
    std::string host;
    bool complete = false;
    uint64_t dropped = 0, untracked = 0;
    int64_t begin = 0, end = 0;     // ns
    std::vector<TraceEvent> events; // in the order in which calls returned
};

struct Trace {
    std::string job;
    uint32_t world_size = 0;
    int64_t duration = 0;         // ns
    std::vector<RankTrace> ranks; // by rank; some may be missing
};

// Reads the files of one job in a folder: the given one, or the latest. Returns false and sets `why` on
// failure.
bool read_trace(const std::string& folder, const std::string& job, Trace& out, Diagnostic& why);

} // namespace zipmpi::tool
