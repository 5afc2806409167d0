// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Partition by Scotch. Scotch has global state: one thread at a time, and its random state is reset before
// each call.
#include "mapping/module/parts.hpp"

#include <cstddef>
#include <cstdio>
#include <scotch.h>
#include <vector>

namespace zipmpi::mapping {
namespace {

std::vector<SCOTCH_Num> numbers(const int32_t* from, size_t count) { return {from, from + count}; }

} // namespace

bool partition_by_scotch(const CsrGraph& graph, int32_t parts, const int32_t* sizes, int32_t* part_of) {
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
    SCOTCH_randomSeed(graph_seed);
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

} // namespace zipmpi::mapping
