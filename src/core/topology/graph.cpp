// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Graph topologies, stored completely on every process.
#include "core/api/topology.hpp"
#include "core/runtime_state.hpp"
#include "core/topology/reorder.hpp"
#include "core/topology/topology_util.hpp"

#include <algorithm>

namespace zipmpi::core {
namespace {

Err check_graph(const Comm& comm, int nnodes, const int* index, const int* edges, GraphTopology& graph) {
    if (const Err e = require_intra(comm); e != Err::success) return e;
    if (nnodes < 0 || nnodes > comm.team.size)
        return fail(Err::arg, "pass at most as many nodes as the communicator has ranks",
                    "nnodes is %d, %s has %d ranks", nnodes, name_of(comm).c_str(), comm.team.size);
    if (nnodes == 0) return Err::success;
    if (index == nullptr) return fail(Err::arg, "pass an array", "index is a null pointer");
    for (int i = 0; i < nnodes; ++i)
        if (index[i] < (i > 0 ? index[i - 1] : 0))
            return fail(Err::arg, "pass cumulative edge counts, ascending from 0", "index[%d] is %d", i,
                        index[i]);
    const int count = index[nnodes - 1];
    if (count > 0 && edges == nullptr) return fail(Err::arg, "pass an array", "edges is a null pointer");
    for (int i = 0; i < count; ++i)
        if (edges[i] < 0 || edges[i] >= nnodes)
            return fail(Err::arg, "pass nodes of the graph", "edges[%d] is %d, the graph has %d nodes", i,
                        edges[i], nnodes);
    graph.index.assign(index, index + nnodes);
    graph.edges.assign(edges, edges + count);
    return Err::success;
}

std::vector<CommEdge> edges_of(const GraphTopology& graph) {
    std::vector<CommEdge> edges;
    int at = 0;
    for (size_t node = 0; node < graph.index.size(); ++node)
        for (; at < graph.index[node]; ++at)
            edges.push_back({static_cast<int>(node), graph.edges[static_cast<size_t>(at)], 1});
    return edges;
}

Err graph_of(const Comm& comm, const GraphTopology*& graph) {
    const Topology* topology = nullptr;
    const Err e = topology_of(comm, TopologyKind::graph, topology);
    if (e == Err::success) graph = &topology->graph;
    return e;
}

int first_edge(const GraphTopology& graph, int rank) {
    return rank > 0 ? graph.index[static_cast<size_t>(rank) - 1] : 0;
}

} // namespace

Err graph_create(Comm& comm, int nnodes, const int* index, const int* edges, bool reorder, Comm*& result) {
    auto topology = std::make_shared<Topology>();
    topology->kind = TopologyKind::graph;
    if (const Err e = check_graph(comm, nnodes, index, edges, topology->graph); e != Err::success) return e;
    Order order = identity_order(nnodes);
    if (reorder)
        if (const Err e = collective_order(comm, nnodes, edges_of(topology->graph), order); e != Err::success)
            return e;
    return make_with_topology(comm, order, std::move(topology), result);
}

Err graph_map(Comm& comm, int nnodes, const int* index, const int* edges, int& new_rank) {
    GraphTopology graph;
    if (const Err e = check_graph(comm, nnodes, index, edges, graph); e != Err::success) return e;
    new_rank = own_rank_in(local_order(comm, nnodes, edges_of(graph)), comm);
    return Err::success;
}

Err graphdims_get(Comm& comm, int& nnodes, int& nedges) {
    const GraphTopology* graph = nullptr;
    if (const Err e = graph_of(comm, graph); e != Err::success) return e;
    nnodes = static_cast<int>(graph->index.size());
    nedges = static_cast<int>(graph->edges.size());
    return Err::success;
}

Err graph_get(Comm& comm, int maxindex, int maxedges, int* index, int* edges) {
    const GraphTopology* graph = nullptr;
    if (const Err e = graph_of(comm, graph); e != Err::success) return e;
    if (maxindex < static_cast<int>(graph->index.size()) || maxedges < static_cast<int>(graph->edges.size()))
        return fail(Err::arg, "pass arrays of the lengths that MPI_Graphdims_get returns",
                    "the arrays have space for %d nodes and %d edges, the graph has %zu and %zu", maxindex,
                    maxedges, graph->index.size(), graph->edges.size());
    std::copy(graph->index.begin(), graph->index.end(), index);
    std::copy(graph->edges.begin(), graph->edges.end(), edges);
    return Err::success;
}

Err graph_neighbors_count(Comm& comm, int rank, int& count) {
    const GraphTopology* graph = nullptr;
    if (const Err e = graph_of(comm, graph); e != Err::success) return e;
    count = graph->index[static_cast<size_t>(rank)] - first_edge(*graph, rank);
    return Err::success;
}

Err graph_neighbors(Comm& comm, int rank, int max, int* neighbors) {
    const GraphTopology* graph = nullptr;
    int count = 0;
    if (const Err e = graph_of(comm, graph); e != Err::success) return e;
    if (const Err e = graph_neighbors_count(comm, rank, count); e != Err::success) return e;
    if (max < count)
        return fail(Err::arg, "pass an array of the length that MPI_Graph_neighbors_count returns",
                    "maxneighbors is %d, rank %d has %d neighbors", max, rank, count);
    std::copy_n(graph->edges.begin() + first_edge(*graph, rank), count, neighbors);
    return Err::success;
}

} // namespace zipmpi::core
