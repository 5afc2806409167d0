// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/topo/topology.hpp"

#include "core/comm/make.hpp"
#include "core/comm/split.hpp"
#include "core/state.hpp"
#include "core/topo/grid.hpp"
#include "core/topo/make.hpp"

#include <algorithm>

namespace zipmpi::core {
namespace {

void add_grid_neighbours(const Cart& cart, Neighbours& n) {
    for (int d = 0; d < static_cast<int>(cart.dims.size()); ++d)
        for (const int step : {-1, 1}) n.sources.push_back(shifted(cart, cart.coords, d, step));
    n.destinations = n.sources;
}

void add_graph_neighbours(const Graph& graph, int rank, Neighbours& n) {
    const auto r = static_cast<size_t>(rank);
    const int first = r > 0 ? graph.index[r - 1] : 0;
    n.sources.assign(graph.edges.begin() + first, graph.edges.begin() + graph.index[r]);
    n.destinations = n.sources;
}

} // namespace

Err neighbours_of(const Comm& comm, Neighbours& neighbours) {
    neighbours = {};
    const TopologyKind kind = comm.topology != nullptr ? comm.topology->kind : TopologyKind::none;
    switch (kind) {
    case TopologyKind::cart:
        add_grid_neighbours(comm.topology->cart, neighbours);
        return Err::success;
    case TopologyKind::graph:
        add_graph_neighbours(comm.topology->graph, comm.team.rank, neighbours);
        return Err::success;
    case TopologyKind::dist_graph:
        neighbours.sources = comm.topology->dist_graph.sources;
        neighbours.destinations = comm.topology->dist_graph.destinations;
        return Err::success;
    case TopologyKind::none:
        break;
    }
    return fail(Err::topology, "pass a communicator with a topology", "%s has none", name_of(comm).c_str());
}

Err topology_of(const Comm& comm, TopologyKind kind, const Topology*& topology) {
    constexpr const char* names[] = {"", "Cartesian", "graph", "distributed graph"};
    if (comm.topology == nullptr || comm.topology->kind != kind)
        return fail(Err::topology, "pass a communicator that was made with one", "%s has no %s topology",
                    name_of(comm).c_str(), names[static_cast<int>(kind)]);
    topology = comm.topology.get();
    return Err::success;
}

Err need_intra(const Comm& comm) { return comm.inter() ? not_intra(comm) : Err::success; }

int own_place_in(const std::vector<int>& order, const Comm& comm) {
    const auto at = std::find(order.begin(), order.end(), comm.team.rank);
    return at != order.end() ? static_cast<int>(at - order.begin()) : undefined;
}

Err make_with_topology(Comm& comm, const std::vector<int>& order, std::shared_ptr<Topology> topology,
                       Comm*& result) {
    const int place = own_place_in(order, comm);
    const Err e = split(comm, place == undefined ? undefined : 0, place, result);
    if (e == Err::success && result != nullptr) result->topology = std::move(topology);
    return e;
}

Err topo_test(Comm& comm, TopologyKind& kind) {
    kind = comm.topology != nullptr ? comm.topology->kind : TopologyKind::none;
    return Err::success;
}

} // namespace zipmpi::core
