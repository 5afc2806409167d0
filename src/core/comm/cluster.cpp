// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/comm/cluster.hpp"

#include "bridge/grid.hpp"
#include "core/state.hpp"

#include <cstdlib>

namespace zipmpi::core {

OwnCluster own_cluster() {
    OwnCluster own;
    const char* const text = std::getenv(bridge::grid_variable);
    bridge::Grid grid;
    const uint32_t node = engine()->segment.node();
    if (text == nullptr || !bridge::parse(text, grid) || node >= grid.nodes.size()) return own;
    own.number = grid.nodes[node].clusters[0];
    own.count = static_cast<int>(grid.clusters.size());
    own.name = grid.clusters[static_cast<size_t>(own.number)].name;
    return own;
}

} // namespace zipmpi::core
