// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Structures: a few short runs of each of many elements, copied together as a loop written by hand does it. A
// run is one to three chunks, which one load and one store copy each.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace zipmpi::layout {

struct Chunk {
    int64_t place; // in an element as it lies in memory
    int64_t start; // and packed
    size_t length; // 1, 2, 4, 8 or 16
};
inline constexpr size_t longest_chunk = 16;

// Neighbouring runs of an element that one loop copies: there is a loop for every combination of lengths.
class Record {
  public:
    static constexpr size_t most_chunks = 3;

    // Adds a run if there is room for its chunks. The last of them may overlap the one before.
    bool add(int64_t place, int64_t start, size_t length) {
        const size_t largest = std::min(std::bit_floor(length), longest_chunk);
        if (chunks_ + (length + largest - 1) / largest > most_chunks) return false;
        for (size_t at = 0; at < length; at += largest) {
            const size_t n = std::min(largest, std::bit_ceil(length - at));
            const auto shift = static_cast<int64_t>(std::min(at, length - n));
            chunk_[chunks_++] = {place + shift, start + shift, n};
        }
        ++runs_;
        return true;
    }
    [[nodiscard]] size_t runs() const { return runs_; }
    [[nodiscard]] size_t chunks() const { return chunks_; }
    [[nodiscard]] const Chunk& chunk(size_t i) const { return chunk_[i]; }

  private:
    Chunk chunk_[most_chunks]{};
    size_t chunks_ = 0;
    size_t runs_ = 0;
};

} // namespace zipmpi::layout
