// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Structures of at most 64 bytes, copied by permuting the bytes of a register: one load and one store for one
// element, or for several if they fit. For processors that permute bytes and store under a mask of them
// (AVX-512 VBMI). Twice as fast as a loop over the members.
#pragma once

#include "layout/copy.hpp"

#include <algorithm>
#include <memory>

namespace zipmpi::layout {

inline constexpr int64_t register_bytes = 64;

// Which byte of an element goes where.
struct Shuffle {
    uint8_t to_packed[register_bytes] = {}; // by packed byte: its place in memory, from `low` on
    uint8_t to_memory[register_bytes] = {}; // the other way round
    uint64_t memory_bytes = 0;              // places that hold data
    int64_t low = 0;                        // the lowest place
    int64_t span = 0;                       // from there to the end of the highest
    int64_t size = 0;
};

bool has_shuffles() noexcept;

// Adds a run of the next packed bytes to a shuffle whose `low` is set. The element must fit.
void add_run(Shuffle& s, int64_t place, int64_t bytes);

// row.count elements, as far apart as in Steps. Only where has_shuffles().
void pack_shuffled(const Shuffle& s, std::byte* packed, const std::byte* memory, Steps row);
void unpack_shuffled(const Shuffle& s, std::byte* memory, const std::byte* packed, Steps row);

} // namespace zipmpi::layout
