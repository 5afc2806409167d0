// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Messages, waits and the critical path of a trace. Pure functions. Ranks are indices into Trace::ranks.
#pragma once

#include "tracing/trace_data.hpp"

#include <map>
#include <utility>

namespace zipmpi::tool {

// The k-th send and the k-th posted receive of one sender, receiver, communicator and tag: the order that MPI
// guarantees.
struct TraceMessage {
    uint32_t from, to;
    uint64_t bytes;
    int32_t tag;
    int64_t sent, send_end;              // the call of the sender
    int64_t posted, wait_from, received; // the receive; the call that completed it
    uint16_t send_function, receive_function;

    [[nodiscard]] int64_t late_sender() const;   // time that the receiver waited because the send was late
    [[nodiscard]] int64_t late_receiver() const; // time that the sender waited because the receive was late
};

// One rank in a blocking collective: how long it waited for the last rank to enter.
struct CollectiveWait {
    uint32_t rank, last_rank;
    int64_t start, end, last_enter;
    uint16_t function;

    [[nodiscard]] int64_t wait() const;
};

struct CriticalPath {
    int64_t computing = 0, in_calls = 0, in_messages = 0; // ns
    std::map<uint32_t, int64_t> by_rank;                  // without messages
    std::map<uint16_t, int64_t> by_function;
    uint64_t changes = 0; // of the rank
};

struct TraceAnalysis {
    std::vector<TraceMessage> messages;
    uint64_t unmatched = 0; // sends without receive, and receives without send
    std::vector<CollectiveWait> collectives;
    CriticalPath path;
};

TraceAnalysis analyze(const Trace& trace);

} // namespace zipmpi::tool
