// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/topology/topology.hpp"

#include "core/api/topology.hpp"
#include "core/comm/comm_util.hpp"
#include "core/comm/split.hpp"
#include "core/runtime_state.hpp"
#include "core/topology/cart_math.hpp"
#include "core/topology/topology_util.hpp"

#include <algorithm>

namespace zipmpi::core {
namespace {

void add_cart_neighbors(const Cart& cart, Neighbors& n) {
    for (int d = 0; d < static_cast<int>(cart.dims.size()); ++d)
        for (const int step : {-1, 1}) n.sources.push_back(shifted(cart, cart.coords, d, step));
    n.destinations = n.sources;
}

void add_graph_neighbors(const GraphTopology& graph, int rank, Neighbors& n) {
    const auto r = static_cast<size_t>(rank);
    const int first = r > 0 ? graph.index[r - 1] : 0;
    n.sources.assign(graph.edges.begin() + first, graph.edges.begin() + graph.index[r]);
    n.destinations = n.sources;
}

} // namespace

Err neighbors_of(const Comm& comm, Neighbors& neighbors) {
    neighbors = {};
    const TopologyKind kind = comm.topology != nullptr ? comm.topology->kind : TopologyKind::none;
    switch (kind) {
    case TopologyKind::cart:
        add_cart_neighbors(comm.topology->cart, neighbors);
        return Err::success;
    case TopologyKind::graph:
        add_graph_neighbors(comm.topology->graph, comm.team.rank, neighbors);
        return Err::success;
    case TopologyKind::dist_graph:
        neighbors.sources = comm.topology->dist_graph.sources;
        neighbors.destinations = comm.topology->dist_graph.destinations;
        return Err::success;
    case TopologyKind::none:
        break;
    }
    return fail(Err::topology, "pass a communicator with a topology", "%s has no topology",
                name_of(comm).c_str());
}

Err topology_of(const Comm& comm, TopologyKind kind, const Topology*& topology) {
    constexpr const char* names[] = {"", "Cartesian", "graph", "distributed graph"};
    if (comm.topology == nullptr || comm.topology->kind != kind)
        return fail(Err::topology, "pass a communicator with such a topology", "%s has no %s topology",
                    name_of(comm).c_str(), names[static_cast<int>(kind)]);
    topology = comm.topology.get();
    return Err::success;
}

Err require_intra(const Comm& comm) { return comm.inter() ? intracomm_required(comm) : Err::success; }

int own_rank_in(const std::vector<int>& order, const Comm& comm) {
    const auto at = std::find(order.begin(), order.end(), comm.team.rank);
    return at != order.end() ? static_cast<int>(at - order.begin()) : undefined;
}

Err make_with_topology(Comm& comm, const std::vector<int>& order, std::shared_ptr<Topology> topology,
                       Comm*& result) {
    const int new_rank = own_rank_in(order, comm);
    const Err e = split(comm, new_rank == undefined ? undefined : 0, new_rank, result);
    if (e == Err::success && result != nullptr) result->topology = std::move(topology);
    return e;
}

Err topo_test(Comm& comm, TopologyKind& kind) {
    kind = comm.topology != nullptr ? comm.topology->kind : TopologyKind::none;
    return Err::success;
}

} // namespace zipmpi::core
