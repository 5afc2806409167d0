// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Arithmetic of grids: ranks in row-major order, and how a number is cut into dimensions.
#pragma once

#include "core/topo/topology.hpp"

namespace zipmpi::core {

// The rank at these coordinates, which lie within the grid.
int rank_at(const Cart& cart, const std::vector<int>& coords);
std::vector<int> coords_of(const Cart& cart, int rank);
// The rank so many steps away along one dimension, proc_null beyond the edge.
int shifted(const Cart& cart, const std::vector<int>& coords, int dimension, int64_t steps);
int size_of(const Cart& cart);

// Cuts n into so many factors, as close to each other as possible, the largest first.
std::vector<int> balanced_factors(int n, int count);

} // namespace zipmpi::core
