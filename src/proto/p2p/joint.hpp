// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A long message that two CPUs copy: its receiver takes chunk after chunk out of the sender's memory, and the
// sender, if it waits in MPI, puts chunks into the receiver's. Whoever is ready takes the next one, so a
// sender that is busy elsewhere costs nothing.
#pragma once

#include "proto/p2p/chunks.hpp"
#include "proto/p2p/match.hpp"
#include "proto/p2p/peer_place.hpp"

namespace zipmpi::proto {

// On the receiver's side.
struct JointCopying {
    Operation* recv = nullptr; // null: free
    Incoming message;
    PeerPlace from;
    const std::byte* view = nullptr; // of the message, if it lies in memory that is born shared
    uint64_t chunk_bytes = 0;
    uint32_t number = 0;
    uint32_t chunks = 0;
    uint32_t taken = 0; // chunks that have to be copied before it ends: all, or those taken before it failed
    uint32_t own = 0;   // chunks copied here
    bool failed = false;
};

} // namespace zipmpi::proto
