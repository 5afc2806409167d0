// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The topology of a communicator: immutable, and shared by duplicates.
#pragma once

#include "core/api/common.hpp"

#include <vector>

namespace zipmpi::core {

struct Cart {
    std::vector<int> dims;
    std::vector<bool> periods;
    std::vector<int> coords; // of this process
};

struct GraphTopology {
    std::vector<int> index; // index[i]: number of edges of nodes 0 .. i
    std::vector<int> edges;
};

struct DistGraph { // as seen by this process
    std::vector<int> sources;
    std::vector<int> source_weights; // empty if unweighted
    std::vector<int> destinations;
    std::vector<int> destination_weights;
    bool weighted = false;
};

struct Topology {
    TopologyKind kind = TopologyKind::none;
    Cart cart; // only the member selected by `kind` is valid
    GraphTopology graph;
    DistGraph dist_graph;
};

// Neighbors of this process in neighborhood collectives, in the order of their blocks in the buffers;
// proc_null at the edges of a grid. Fails if the communicator has no topology.
struct Neighbors {
    std::vector<int> sources;
    std::vector<int> destinations;
};
Err neighbors_of(const Comm& comm, Neighbors& neighbors);

} // namespace zipmpi::core
