// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the module zipmpi_graphs.so is made of: a file for each library that it was built with.
#pragma once

#include "mapping/module.hpp"

namespace zipmpi::mapping {

inline constexpr int graph_seed = 20061; // one version of a library gives one answer

bool partition_by_scotch(const RawGraph& graph, int32_t parts, const int32_t* sizes, int32_t* part_of);
bool separate_by_metis(const RawGraph& graph, int32_t* side_of);

} // namespace zipmpi::mapping
