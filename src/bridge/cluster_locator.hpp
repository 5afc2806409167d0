// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Locates ranks and gateways of a job in its cluster map.
#pragma once

#include "bridge/cluster_map.hpp"

#include <functional>
#include <memory>

namespace zipmpi::bridge {

struct ClusterLocator {
    std::shared_ptr<const ClusterMap> cluster_map;
    int job_size = 0;
    std::function<int(int world_rank)> node_of;

    [[nodiscard]] const std::vector<int>& clusters_of(int world_rank) const {
        return cluster_map->nodes[static_cast<size_t>(node_of(world_rank))].clusters;
    }
    // The cluster in which a rank reaches another rank or a gateway; -1: none.
    [[nodiscard]] int cluster_to(int own_rank, int id) const {
        return first_shared_cluster(
            clusters_of(own_rank),
            id < job_size ? clusters_of(id)
                          : bridge::clusters_of(cluster_map->gateways[static_cast<size_t>(id - job_size)]));
    }
    // Whether two ranks reach each other without a gateway.
    [[nodiscard]] bool share_cluster(int a, int b) const {
        return first_shared_cluster(clusters_of(a), clusters_of(b)) >= 0;
    }
};

} // namespace zipmpi::bridge
