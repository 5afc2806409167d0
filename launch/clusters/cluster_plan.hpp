// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Plans a multi-cluster job: turns a cluster file into the launch tree, the placement of ranks and the
// cluster map of a start request. Pure functions.
#pragma once

#include "launch/clusters/cluster_file.hpp"
#include "launch/protocol/messages.hpp"

#include "mapping/graph.hpp"

namespace zipmpi::launch {

struct ClusterPlanOptions {
    uint32_t ranks = 0; // 0: one per slot
    MapBy map_by = MapBy::slot;
    uint32_t fanout = 32;
    std::string agent; // for hosts whose cluster or gateway has none
    // Communication graph: ranks are placed so that gateways forward little. Null: ranks in ascending order.
    const mapping::Graph* graph = nullptr;
};

// Fills map, tree.hosts, .agents, .agent_of, .parents and .clusters, cluster_map and gateway_nodes of the
// request. Ranks fill the clusters in order; the ranks on a gateway host come last in its first cluster.
bool plan_clusters(const ClusterFile& file, const ClusterPlanOptions& options, StartRequest& request,
                   Diagnostic& why);

} // namespace zipmpi::launch
