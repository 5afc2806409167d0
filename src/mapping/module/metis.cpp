// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mapping/module/parts.hpp"

#include <cstddef>
#include <metis.h>
#include <vector>

namespace zipmpi::mapping {

bool separate_by_metis(const CsrGraph& graph, int32_t* side_of) {
    const auto edges = static_cast<size_t>(graph.first[graph.vertices]);
    std::vector<idx_t> first(graph.first, graph.first + graph.vertices + 1);
    std::vector<idx_t> to(graph.to, graph.to + edges);
    std::vector<idx_t> result(static_cast<size_t>(graph.vertices));
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = static_cast<idx_t>(graph_seed);
    auto vertices = static_cast<idx_t>(graph.vertices);
    idx_t size = 0;
    const bool ok = METIS_ComputeVertexSeparator(&vertices, first.data(), to.data(), nullptr, options, &size,
                                                 result.data()) == METIS_OK;
    for (size_t v = 0; v < result.size(); ++v) side_of[v] = static_cast<int32_t>(result[v]);
    return ok;
}

} // namespace zipmpi::mapping
