// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Interface of the module zipmpi_graphs.so, the only user of Scotch and METIS. mpiexec and the tools load it
// when they place ranks by communication pattern; the MPI library never does.
#pragma once

#include <cstdint>

namespace zipmpi::mapping {

// Graph in compressed rows: the neighbors of v are to[i] for first[v] <= i < first[v + 1].
struct CsrGraph {
    int32_t vertices;
    const int32_t* first;
    const int32_t* to;
    const int32_t* weights; // of edges, at least 1
};

struct GraphTools {
    // Scotch: parts of approximately the given sizes. Returns false on failure. Null: built without Scotch.
    bool (*partition)(const CsrGraph& graph, int32_t parts, const int32_t* sizes, int32_t* part_of);
    // METIS: side 0, side 1, separator 2. Returns false on failure. Null: built without METIS.
    bool (*separate)(const CsrGraph& graph, int32_t* side_of);
};

inline constexpr const char* graph_tools_symbol = "zipmpi_graph_tools_1";
inline constexpr const char* graph_module_file = "zipmpi_graphs.so";

// Loads the module once; null: not installed. Not thread-safe.
const GraphTools* graph_tools();

} // namespace zipmpi::mapping
