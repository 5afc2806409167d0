// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Serialization of a layout as an array of numbers for another process. Loops stay loops, so the size of a
// regular layout does not depend on its count.
#pragma once

#include "packing/layout.hpp"

namespace zipmpi::packing {

// Largest displacement, size or count in a serialized layout.
inline constexpr int64_t max_serialized = int64_t{1} << 48;

// Returns the number of numbers written; 0: capacity too small, or no data.
size_t serialize(const Layout& layout, int64_t* numbers, size_t capacity);

// The numbers are not trusted. Returns null if they are not a valid layout.
LayoutPtr deserialize(const int64_t* numbers, size_t count);

// Bounds of the data of `count` elements, relative to the address of the first. Returns false if they exceed
// max_serialized.
bool data_bounds(const Layout& layout, int64_t count, int64_t& low, int64_t& high);

} // namespace zipmpi::packing
