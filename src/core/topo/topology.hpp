// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The topology of a communicator: constant once made, and shared by its copies.
#pragma once

#include "core/api.hpp"

#include <vector>

namespace zipmpi::core {

struct Cart {
    std::vector<int> dims;
    std::vector<bool> periods;
    std::vector<int> coords; // own
};

struct Graph {
    std::vector<int> index; // index[i]: edges of the nodes 0 .. i
    std::vector<int> edges;
};

struct DistGraph { // as this process sees it
    std::vector<int> sources;
    std::vector<int> source_weights; // empty unless weighted
    std::vector<int> destinations;
    std::vector<int> destination_weights;
    bool weighted = false;
};

struct Topology {
    TopologyKind kind = TopologyKind::none;
    Cart cart; // the one that kind names has a meaning
    Graph graph;
    DistGraph dist_graph;
};

// The partners of this process in neighbourhood collectives, in the order of their blocks in the buffers;
// proc_null where a grid ends. Fails if the communicator has no topology.
struct Neighbours {
    std::vector<int> sources;
    std::vector<int> destinations;
};
Err neighbours_of(const Comm& comm, Neighbours& neighbours);

} // namespace zipmpi::core
