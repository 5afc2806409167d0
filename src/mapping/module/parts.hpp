// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Functions of the module zipmpi_graphs.so, one file per library.
#pragma once

#include "mapping/graph_module.hpp"

namespace zipmpi::mapping {

inline constexpr int graph_seed = 20061; // fixed, for reproducible results

bool partition_by_scotch(const CsrGraph& graph, int32_t parts, const int32_t* sizes, int32_t* part_of);
bool separate_by_metis(const CsrGraph& graph, int32_t* side_of);

} // namespace zipmpi::mapping
