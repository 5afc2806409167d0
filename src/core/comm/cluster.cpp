// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/comm/cluster.hpp"

#include "bridge/cluster_map.hpp"
#include "core/runtime_state.hpp"

#include <cstdlib>

namespace zipmpi::core {

OwnCluster own_cluster() {
    OwnCluster result;
    const char* const text = std::getenv(bridge::cluster_map_variable);
    bridge::ClusterMap cluster_map;
    const uint32_t node = runtime()->segment.node();
    if (text == nullptr || !bridge::parse(text, cluster_map) || node >= cluster_map.nodes.size())
        return result;
    result.number = cluster_map.nodes[node].clusters[0];
    result.count = static_cast<int>(cluster_map.clusters.size());
    result.name = cluster_map.clusters[static_cast<size_t>(result.number)].name;
    return result;
}

} // namespace zipmpi::core
