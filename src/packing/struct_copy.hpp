// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// StructCopy: a few short runs of a structure that one loop copies for many elements, like a handwritten loop
// over the fields. A run consists of one to three chunks, each copied by one load and one store.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace zipmpi::packing {

struct FieldChunk {
    int64_t displacement; // in an element in memory
    int64_t start;        // in a packed element
    size_t length;        // 1, 2, 4, 8 or 16
};
inline constexpr size_t max_chunk_bytes = 16;

// Consecutive runs of an element that one loop copies; one loop exists per combination of chunk lengths.
class StructCopy {
  public:
    static constexpr size_t max_chunks = 3;

    // Adds a run; returns false if too few chunks are left. The last chunk may overlap the previous one.
    bool add(int64_t displacement, int64_t start, size_t length) {
        const size_t largest = std::min(std::bit_floor(length), max_chunk_bytes);
        if (chunks_ + (length + largest - 1) / largest > max_chunks) return false;
        for (size_t at = 0; at < length; at += largest) {
            const size_t n = std::min(largest, std::bit_ceil(length - at));
            const auto shift = static_cast<int64_t>(std::min(at, length - n));
            chunk_[chunks_++] = {displacement + shift, start + shift, n};
        }
        ++runs_;
        return true;
    }
    [[nodiscard]] size_t runs() const { return runs_; }
    [[nodiscard]] size_t chunks() const { return chunks_; }
    [[nodiscard]] const FieldChunk& chunk(size_t i) const { return chunk_[i]; }

  private:
    FieldChunk chunk_[max_chunks]{};
    size_t chunks_ = 0;
    size_t runs_ = 0;
};

} // namespace zipmpi::packing
