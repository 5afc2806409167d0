// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The chunks of a message that two CPUs copy (joint.hpp): how long they are, and how each side takes the next
// one. `zipmpi tune` measures with the same chunks.
#pragma once

#include "base/param.hpp"
#include "wire/segment_layout.hpp"

#include <algorithm>
#include <cstdint>

namespace zipmpi::proto {

// Two CPUs in one small chunk's page tables get in each other's way; the last chunk is waited for.
inline constexpr uint64_t least_chunk = 32 * KiB;
inline constexpr uint64_t largest_chunk = 512 * KiB;
inline constexpr uint64_t chunks_wanted = 4;
inline constexpr uint32_t most_chunks = UINT16_MAX;
inline constexpr uint64_t least_joint_bytes = least_chunk + 1; // two chunks
inline constexpr uint64_t largest_joint_bytes = largest_chunk * (most_chunks - 1);

inline uint64_t chunk_for(uint64_t bytes) {
    const uint64_t chunk = (bytes / chunks_wanted + least_chunk - 1) / least_chunk * least_chunk;
    return std::clamp(chunk, least_chunk, largest_chunk);
}
inline uint32_t count_chunks(uint64_t bytes, uint64_t chunk_bytes) {
    return static_cast<uint32_t>((bytes + chunk_bytes - 1) / chunk_bytes);
}
inline uint64_t chunk_at(uint64_t chunk_bytes, uint32_t chunk) { return chunk_bytes * chunk; }
inline uint64_t chunk_length(uint64_t bytes, uint64_t chunk_bytes, uint32_t chunk) {
    const uint64_t at = chunk_at(chunk_bytes, chunk);
    return at + chunk_bytes < bytes ? chunk_bytes : bytes - at;
}

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
