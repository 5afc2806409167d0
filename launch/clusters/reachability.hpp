// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Gateways of a job as mpiexec sees them: which have failed permanently, and whether the clusters that have
// ranks still reach each other. Pure.
#pragma once

#include "launch/protocol/messages.hpp"

#include "bridge/routes.hpp"

#include <optional>

namespace zipmpi::launch {

// One node for each distinct set of clusters.
std::vector<bridge::NodeClusters> distinct_memberships(const bridge::ClusterMap& cluster_map);

class ClusterReachability {
  public:
    void begin(const StartRequest& request); // no effect for a job in one cluster
    // Records the failure of the gateways on these nodes. Returns false if the nodes have ranks or no
    // gateways.
    bool fail_nodes(uint32_t first, uint32_t end);
    void fail_gateway(uint32_t number);
    [[nodiscard]] std::string gateways_text() const; // lines about the gateways for --show-placement
    // "a and b": clusters without a path between them; empty if all clusters reach each other.
    [[nodiscard]] std::string find_partition() const;

    // Clusters of a node that has ranks, by its index among those nodes: "a and b"; empty in a job in one
    // cluster.
    [[nodiscard]] std::string clusters_of(uint32_t node) const;

  private:
    [[nodiscard]] std::string join_names(const std::vector<int>& clusters) const;
    const StartRequest* request_ = nullptr;
    bridge::ClusterMap cluster_map_;
    std::optional<bridge::RoutingTable> routes_;
};

} // namespace zipmpi::launch
