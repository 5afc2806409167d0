// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Histogram of the sizes of sent messages, in the last slots of the counters of a rank. Class 0 has empty
// messages, class k those of 2^(k-1) to 2^k - 1 bytes, the last class also all larger ones.
#pragma once

#include "base/counters.hpp"

#include <algorithm>
#include <bit>

namespace zipmpi::size_histogram {

inline constexpr uint32_t classes = 40;
inline constexpr uint32_t first_slot = counter_slots - classes;
static_assert(static_cast<uint32_t>(Counter::count_) <= first_slot);

constexpr uint32_t class_of(uint64_t bytes) noexcept {
    return std::min(static_cast<uint32_t>(std::bit_width(bytes)), classes - 1);
}
// Smallest and largest size of a class.
constexpr uint64_t smallest(uint32_t which) noexcept { return which == 0 ? 0 : uint64_t{1} << (which - 1); }
constexpr uint64_t largest(uint32_t which) noexcept { return which == 0 ? 0 : 2 * smallest(which) - 1; }
constexpr Counter counter(uint32_t which) noexcept { return static_cast<Counter>(first_slot + which); }

} // namespace zipmpi::size_histogram
