// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A long message that two CPUs copy: its receiver takes chunk after chunk out of the sender's memory, and the
// sender, if it waits in MPI, puts chunks into the receiver's. Whoever is ready takes the next one, so a
// sender that is busy elsewhere costs nothing.
#pragma once

#include "proto/p2p/match.hpp"
#include "proto/p2p/peer_place.hpp"
#include "wire/segment_layout.hpp"

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

inline uint64_t chunk_at(uint64_t chunk_bytes, uint32_t chunk) { return chunk_bytes * chunk; }
inline uint64_t chunk_length(uint64_t bytes, uint64_t chunk_bytes, uint32_t chunk) {
    const uint64_t at = chunk_at(chunk_bytes, chunk);
    return at + chunk_bytes < bytes ? chunk_bytes : bytes - at;
}

inline constexpr uint32_t most_chunks = UINT16_MAX;

// How many chunks are taken.
inline uint32_t chunks_taken(uint64_t word) {
    return static_cast<uint32_t>(word >> 16 & most_chunks) + static_cast<uint32_t>(word & most_chunks);
}

// Takes the next chunk of a copy from one end. False: all are taken, or the copy has ended.
inline bool take_chunk(wire::JointCopy& joint, uint32_t number, uint32_t chunks, bool from_front,
                       uint32_t& chunk) {
    uint64_t word = joint.taken.load(std::memory_order_acquire);
    do {
        if (word >> 32 != number || chunks_taken(word) >= chunks) return false;
    } while (!joint.taken.compare_exchange_weak(word, word + (from_front ? 1U << 16 : 1U),
                                                std::memory_order_acq_rel, std::memory_order_acquire));
    chunk = from_front ? static_cast<uint32_t>(word >> 16 & most_chunks)
                       : chunks - 1 - static_cast<uint32_t>(word & most_chunks);
    return true;
}

} // namespace zipmpi::proto
