// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Operation: one send or receive from start to completion. Requests contain operations; blocking calls keep
// one on the stack. It must not be moved or destroyed before done() is true.
#pragma once

#include "base/err.hpp"
#include "packing/layout.hpp"
#include "proto/p2p/keyed_queues.hpp"
#include "transport/network_operation.hpp"
#include "wire/envelope.hpp"

#include <cstddef>
#include <cstdint>

namespace zipmpi::proto {

inline constexpr int any_source = -1;
inline constexpr int any_tag = -2;

// Partitioned communication uses separate contexts: those of its communicator with this bit set. The even one
// is for the descriptions by which the two sides of a channel match, the odd one for its messages.
inline constexpr uint32_t partitioned_context = 1U << 31;

// True for messages of agreement (core/fault), which also run on communicators that are revoked or have
// failed members. They share the odd context of partitioned channels, with negative tags, which channels do
// not use. They fail only if the peer fails.
inline bool survives_revocation(uint32_t context, int tag) {
    return (context & partitioned_context) != 0 && (context & 1U) != 0 && tag < 0;
}

// The arguments of a send or a receive.
struct MessageArgs {
    uint32_t context = 0;
    int source = 0;              // send: own rank in the communicator; recv: rank to match, or any_source
    int tag = 0;                 // recv: may be any_tag
    int peer = 0;                // rank of the peer in the communicator, for reports
    int world_peer = 0;          // rank of the peer in MPI_COMM_WORLD; recv from any_source: -1
    std::byte* buffer = nullptr; // a send never writes through it
    uint64_t bytes = 0;          // recv: capacity of the buffer
    const packing::Layout* layout = nullptr; // of the elements at buffer; null: contiguous
    int64_t elements = 0;                    // with a layout: number of elements at buffer
    uint64_t first_byte = 0;                 // with a layout: offset of the message in the packed elements
};

struct Operation : transport::NetworkOperation, MessageArgs {
    enum class Kind : uint8_t { send, recv, none };
    enum class Cancel : uint8_t { none, requested, answered }; // of a send whose envelope has left

    Operation() = default;
    Operation(Kind what, const MessageArgs& args)
        : MessageArgs(args)
        , kind(what) {}

    // --- set before the start
    Kind kind = Kind::none;
    bool synchronous = false; // send: completes only when matched
    uint8_t round_flags = 0;  // synchronous send: further flags of its envelope
    bool batchable = false;   // send: the caller enters MPI again before it checks for completion
    void (*on_done)(Operation&) = nullptr;

    // --- result of a receive
    int matched_source = any_source;
    int matched_tag = any_tag;
    uint64_t received = 0;
    Err error = Err::success;
    bool cancelled = false;

    // --- while in flight
    uint64_t transferred = 0; // bytes of a rendezvous copied so far
    uint64_t expected = 0;    // bytes of a rendezvous in total
    wire::OperationId own_id = 0;
    wire::OperationId remote_id = 0;
    uint32_t transport_peer = 0;
    uint32_t events_left = 0; // send to another host: events until it is done
    bool ack_pending = false; // send to another host: an ack of the receiver is one of these events
    Cancel cancel = Cancel::none;
    bool network_owned = false; // receive: the network writes to its buffer
    bool complete = false;      // read and written under the engine's lock
    struct Posted {
        uint64_t order = 0; // position among the posts in keyed queues
        bool keyed = false; // in the keyed queues of the matcher, not in its exact queues
        QueueLink<Operation> link;
    } posted; // of a posted receive

    [[nodiscard]] bool done() const { return complete; }

    // Restores the state before the start and keeps the arguments, for persistent requests.
    void reset() {
        matched_source = any_source;
        matched_tag = any_tag;
        received = transferred = expected = 0;
        error = Err::success;
        cancelled = complete = ack_pending = network_owned = false;
        cancel = Cancel::none;
        own_id = remote_id = 0;
        events_left = 0;
    }
};

} // namespace zipmpi::proto
