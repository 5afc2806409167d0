// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The module zipmpi_graphs.so. Scotch keeps state of its own: one thread at a time, and its random numbers
// are set back before each call, so that one version of it gives one answer.
#include "mapping/module.hpp"

#include <cstdio>
#include <metis.h>
#include <scotch.h>
#include <vector>

extern "C" [[gnu::visibility("default")]] const zipmpi::mapping::GraphTools zipmpi_graph_tools_1;

namespace {

using zipmpi::mapping::RawGraph;

constexpr SCOTCH_Num seed = 20061;

std::vector<SCOTCH_Num> numbers(const int32_t* from, size_t count) { return {from, from + count}; }

bool partition(const RawGraph& graph, int32_t parts, const int32_t* sizes, int32_t* part_of) {
    const auto edges = static_cast<size_t>(graph.first[graph.vertices]);
    const auto first = numbers(graph.first, static_cast<size_t>(graph.vertices) + 1);
    const auto to = numbers(graph.to, edges);
    const auto weights = numbers(graph.weights, edges);
    const auto loads = numbers(sizes, static_cast<size_t>(parts));
    std::vector<SCOTCH_Num> result(static_cast<size_t>(graph.vertices));
    SCOTCH_Graph g;
    SCOTCH_Arch arch;
    SCOTCH_Strat strategy;
    if (SCOTCH_graphInit(&g) != 0) return false;
    SCOTCH_archInit(&arch);
    SCOTCH_stratInit(&strategy);
    SCOTCH_randomSeed(seed);
    SCOTCH_randomReset();
    const bool ok =
        SCOTCH_graphBuild(&g, 0, graph.vertices, first.data(), nullptr, nullptr, nullptr,
                          static_cast<SCOTCH_Num>(edges), to.data(), weights.data()) == 0 &&
        SCOTCH_archCmpltw(&arch, parts, loads.data()) == 0 &&
        SCOTCH_stratGraphMapBuild(&strategy, SCOTCH_STRATQUALITY | SCOTCH_STRATSAFETY, parts, 0.001) == 0 &&
        SCOTCH_graphMap(&g, &arch, &strategy, result.data()) == 0;
    SCOTCH_stratExit(&strategy);
    SCOTCH_archExit(&arch);
    SCOTCH_graphExit(&g);
    for (size_t v = 0; v < result.size(); ++v) part_of[v] = static_cast<int32_t>(result[v]);
    return ok;
}

bool separate(const RawGraph& graph, int32_t* side_of) {
    const auto edges = static_cast<size_t>(graph.first[graph.vertices]);
    std::vector<idx_t> first(graph.first, graph.first + graph.vertices + 1);
    std::vector<idx_t> to(graph.to, graph.to + edges);
    std::vector<idx_t> result(static_cast<size_t>(graph.vertices));
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = static_cast<idx_t>(seed);
    auto vertices = static_cast<idx_t>(graph.vertices);
    idx_t size = 0;
    const bool ok = METIS_ComputeVertexSeparator(&vertices, first.data(), to.data(), nullptr, options, &size,
                                                 result.data()) == METIS_OK;
    for (size_t v = 0; v < result.size(); ++v) side_of[v] = static_cast<int32_t>(result[v]);
    return ok;
}

} // namespace

extern "C" const zipmpi::mapping::GraphTools zipmpi_graph_tools_1 = {partition, separate};
