// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Chunks of a cooperative copy (coop_copy.hpp): their size, and how each side claims the next one. `zipmpi
// tune` measures with these functions too.
#pragma once

#include "base/param.hpp"
#include "wire/segment_layout.hpp"

#include <algorithm>
#include <cstdint>

namespace zipmpi::proto {

// Smaller chunks make the two CPUs contend for page tables; larger ones lengthen the wait for the last chunk.
inline constexpr uint64_t min_chunk = 32 * KiB;
inline constexpr uint64_t max_chunk = 512 * KiB;
inline constexpr uint64_t target_chunks = 4;
inline constexpr uint32_t max_chunks = UINT16_MAX;
inline constexpr uint64_t min_coop_bytes = min_chunk + 1; // two chunks
inline constexpr uint64_t max_coop_bytes = max_chunk * (max_chunks - 1);

inline uint64_t chunk_bytes_for(uint64_t bytes) {
    const uint64_t chunk = (bytes / target_chunks + min_chunk - 1) / min_chunk * min_chunk;
    return std::clamp(chunk, min_chunk, max_chunk);
}
inline uint32_t count_chunks(uint64_t bytes, uint64_t chunk_bytes) {
    return static_cast<uint32_t>((bytes + chunk_bytes - 1) / chunk_bytes);
}
inline uint64_t chunk_offset(uint64_t chunk_bytes, uint32_t chunk) { return chunk_bytes * chunk; }
inline uint64_t chunk_length(uint64_t bytes, uint64_t chunk_bytes, uint32_t chunk) {
    const uint64_t at = chunk_offset(chunk_bytes, chunk);
    return at + chunk_bytes < bytes ? chunk_bytes : bytes - at;
}

// Number of chunks claimed by both sides. `word` is CoopCopySlot::taken.
inline uint32_t chunks_taken(uint64_t word) {
    return static_cast<uint32_t>(word >> 16 & max_chunks) + static_cast<uint32_t>(word & max_chunks);
}

// The receiver takes chunks from the front, the sender from the back.
enum class ChunkEnd : uint8_t { front, back };

// Claims the next chunk from one end. Returns false if all are claimed or the copy has ended.
inline bool take_chunk(wire::CoopCopySlot& slot, uint32_t sequence, uint32_t chunks, ChunkEnd end,
                       uint32_t& chunk) {
    const bool from_front = end == ChunkEnd::front;
    uint64_t word = slot.taken.load(std::memory_order_acquire);
    do {
        if (word >> 32 != sequence || chunks_taken(word) >= chunks) return false;
    } while (!slot.taken.compare_exchange_weak(word, word + (from_front ? 1U << 16 : 1U),
                                               std::memory_order_acq_rel, std::memory_order_acquire));
    chunk = from_front ? static_cast<uint32_t>(word >> 16 & max_chunks)
                       : chunks - 1 - static_cast<uint32_t>(word & max_chunks);
    return true;
}

} // namespace zipmpi::proto
