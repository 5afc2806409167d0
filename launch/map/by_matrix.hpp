// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// --map-by comm:FILE: hosts and cores by what ranks say to each other. Pure, but for reading the file.
#pragma once

#include "base/problem.hpp"
#include "launch/link/messages.hpp"
#include "launch/map/placement.hpp"

#include "mapping/best.hpp"
#include "mapping/matrix.hpp"
#include "topo/place.hpp"

namespace zipmpi::launch {

// False: the file cannot be read, is no matrix, or is one of another number of ranks.
bool read_matrix_file(const std::string& path, mapping::Matrix& out, Problem& why);
bool fits_job(const mapping::Matrix& matrix, const std::string& path, uint32_t ranks, Problem& why);

// The hosts get as many ranks as with map_ranks(), but not in the order of their numbers. Hosts that get none
// are removed.
NodeMap map_ranks_by(const mapping::Graph& graph, std::vector<Host>& hosts, const mapping::GraphTools* tools);
NodeMap runs_of(const std::vector<uint32_t>& node_of_rank);

// What the daemons must know: pairs on one node, the heaviest if there are too many.
std::vector<StartRequest::Talk> talk_within_nodes(const mapping::Graph& graph, const NodeMap& map);
// The graph of the ranks of a node, by their local numbers.
mapping::Graph graph_of(const std::vector<StartRequest::Talk>& talk, const std::vector<uint32_t>& ranks);

// The CPUs of these bundles of cores that share a second-level cache with one of them.
CpuList below_cache(const HostCores& bundles, size_t which);

// The CPUs of each rank. Ranks that must share cores may use all that are below the same second-level cache.
std::vector<CpuList> place_by(const mapping::Graph& graph, const PlacementRequest& request,
                              const HostCores& cores, const mapping::GraphTools* tools);

} // namespace zipmpi::launch
