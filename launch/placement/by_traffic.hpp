// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// --map-by comm:FILE: places ranks on hosts and cores by their communication matrix. Pure, except for reading
// the file.
#pragma once

#include "base/diagnostic.hpp"
#include "launch/placement/placement.hpp"
#include "launch/protocol/messages.hpp"

#include "hwtopo/machine.hpp"
#include "mapping/assign.hpp"
#include "mapping/matrix.hpp"

namespace zipmpi::launch {

// Returns false if the file cannot be read, is not a matrix, or is for another number of ranks.
bool read_matrix_file(const std::string& path, mapping::Matrix& out, Diagnostic& why);
bool check_matrix_size(const mapping::Matrix& matrix, const std::string& path, uint32_t ranks,
                       Diagnostic& why);

// Hosts get the same numbers of ranks as from map_ranks(), but not in ascending order. Hosts without ranks
// are removed.
NodeMap map_ranks_by_traffic(const mapping::Graph& graph, std::vector<Host>& hosts,
                             const mapping::GraphTools* tools);
NodeMap make_node_map(const std::vector<uint32_t>& node_of_rank);

// Traffic pairs for the daemons: pairs on one node, the heaviest if there are too many.
std::vector<StartRequest::TrafficPair> traffic_within_nodes(const mapping::Graph& graph, const NodeMap& map);
// Communication graph of a node's ranks, by local index.
mapping::Graph local_traffic_graph(const std::vector<StartRequest::TrafficPair>& traffic,
                                   const std::vector<uint32_t>& ranks);

// The CPUs of these groups of cores that share a second-level cache with one of them.
CpuList cpus_sharing_l2(const HostCores& blocks, size_t which);

// The CPUs of each rank. Ranks that share cores may use all cores below the same second-level cache.
std::vector<CpuList> assign_cpus_by_traffic(const mapping::Graph& graph, const PlacementRequest& request,
                                            const HostCores& cores, const mapping::GraphTools* tools);

} // namespace zipmpi::launch
