// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Arithmetic of Cartesian grids: ranks in row-major order and factorization into dimensions.
#pragma once

#include "core/topology/topology.hpp"

namespace zipmpi::core {

// The rank at these coordinates, which must be within the grid.
int rank_at(const Cart& cart, const std::vector<int>& coords);
std::vector<int> coords_of(const Cart& cart, int rank);
// The rank `steps` away along one dimension, proc_null beyond the edge.
int shifted(const Cart& cart, const std::vector<int>& coords, int dimension, int64_t steps);
int size_of(const Cart& cart);

// Factors n into `count` factors as close to each other as possible, in descending order.
std::vector<int> balanced_factors(int n, int count);

} // namespace zipmpi::core
