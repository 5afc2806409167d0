// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The border to the module zipmpi_graphs.so, which is all that knows Scotch and METIS. mpiexec and the tools
// load it when they place ranks by what they say to each other; the MPI library never does.
#pragma once

#include <cstdint>

namespace zipmpi::mapping {

// A graph in compressed rows: the neighbours of v are to[first[v]] up to to[first[v + 1]].
struct RawGraph {
    int32_t vertices;
    const int32_t* first;
    const int32_t* to;
    const int32_t* weights; // of edges, from 1 on
};

struct GraphTools {
    // Scotch: parts of about the given sizes. False: it failed. Null: not built with Scotch.
    bool (*partition)(const RawGraph& graph, int32_t parts, const int32_t* sizes, int32_t* part_of);
    // METIS: side 0, side 1, separator 2. False: it failed. Null: not built with METIS.
    bool (*separate)(const RawGraph& graph, int32_t* side_of);
};

inline constexpr const char* graph_tools_symbol = "zipmpi_graph_tools_1";
inline constexpr const char* graph_module_file = "zipmpi_graphs.so";

// Loads the module, once; null: it is not there. Not for several threads at a time.
const GraphTools* graph_tools();

} // namespace zipmpi::mapping
