// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Communication matrices of common patterns, to evaluate placements before a run or in tests. Pure; all
// patterns are symmetric.
#pragma once

#include "mapping/matrix.hpp"

#include <string_view>

namespace zipmpi::mapping {

Matrix halo(const std::vector<uint32_t>& grid); // nearest neighbors in a grid of any dimension
Matrix cg(uint32_t ranks);                      // power of two: sums along rows, and the transpose
Matrix mg(uint32_t ranks);                      // power of two: 3-D halos on grids of decreasing size
Matrix lu(uint32_t ranks);                      // power of two: sweeps over a 2-D grid
Matrix all_to_all(uint32_t ranks);
Matrix random_pairs(uint32_t ranks, uint32_t degree, uint64_t seed); // regular or nearly regular

// "halo:16x16", "halo:4x4x4", "cg:16", "mg:64", "lu:16", "all:8", "random:32:4:1" (ranks, degree, seed),
// "ring:8". Returns false for other texts.
bool parse_pattern(std::string_view text, Matrix& out);

} // namespace zipmpi::mapping
