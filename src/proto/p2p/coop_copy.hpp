// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Cooperative copy: sender and receiver copy chunks of one large message concurrently. The receiver reads
// chunks from the sender's memory; a sender that is inside MPI writes chunks to the receiver's memory. Each
// side claims the next chunk when it is ready, so a sender that computes delays nothing.
#pragma once

#include "proto/p2p/chunks.hpp"
#include "proto/p2p/match.hpp"
#include "proto/p2p/remote_buffer.hpp"

namespace zipmpi::proto {

// State on the receiver's side.
struct CoopCopy {
    Operation* recv = nullptr; // null: free
    IncomingMessage message;
    RemoteBuffer from;
    const std::byte* view = nullptr; // the message, if it is in the shared arena
    uint64_t chunk_bytes = 0;
    uint32_t sequence = 0;
    uint32_t chunks = 0;
    uint32_t taken_chunks = 0; // chunks to be copied before it ends: all, or those claimed before it failed
    uint32_t own_chunks = 0;   // chunks copied by the receiver
    bool failed = false;
};

} // namespace zipmpi::proto
