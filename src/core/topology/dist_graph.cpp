// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Distributed graphs, in which each process stores its own edges. In the general form any process may specify
// any edge: edges are sent to their two endpoints by two exchanges, one of counts and one of edges.
#include "core/api/topology.hpp"
#include "core/comm/control_channel.hpp"
#include "core/p2p/p2p.hpp"
#include "core/topology/topology_util.hpp"
#include "core/topology/vertex_exchange.hpp"
#include "proto/coll/coll.hpp"

#include <algorithm>

namespace zipmpi::core {
namespace {

bool is_array(const int* weights) { return weights != unweighted && weights != weights_empty; }

Err check_ranks(const Comm& comm, const char* what, int64_t n, const int* ranks) {
    if (n < 0)
        return fail(Err::arg, "pass 0 or more", "the number of %s is %lld", what, static_cast<long long>(n));
    if (n > 0 && ranks == nullptr) return fail(Err::arg, "pass an array", "%s is a null pointer", what);
    for (int64_t i = 0; i < n; ++i)
        if (ranks[i] < 0 || ranks[i] >= comm.team.size)
            return fail(Err::arg, "pass ranks of the communicator", "%s[%lld] is %d, %s has %d ranks", what,
                        static_cast<long long>(i), ranks[i], name_of(comm).c_str(), comm.team.size);
    return Err::success;
}

Err check_weights(const char* what, int64_t n, const int* weights) {
    if (n == 0 || weights == unweighted) return Err::success;
    if (weights == weights_empty || weights == nullptr)
        return fail(Err::arg, "pass MPI_UNWEIGHTED or an array of weights",
                    "%s has no weights for %lld neighbors", what, static_cast<long long>(n));
    for (int64_t i = 0; i < n; ++i)
        if (weights[i] < 0)
            return fail(Err::arg, "pass 0 or more", "%s[%lld] is %d", what, static_cast<long long>(i),
                        weights[i]);
    return Err::success;
}

// An edge in transit to one of its endpoints: the other endpoint, the weight, and the position in the call.
struct HalfEdge {
    int other;
    int weight;
    bool incoming; // at this end
};

// Sends each process its half-edges. p - 1 rounds of counts, then one message per pair with edges.
Err exchange_edges(Comm& comm, const std::vector<std::vector<HalfEdge>>& to,
                   std::vector<std::vector<HalfEdge>>& from) {
    const auto p = static_cast<size_t>(comm.team.size);
    std::vector<uint64_t> out(p);
    std::vector<uint64_t> in(p);
    for (size_t r = 0; r < p; ++r) out[r] = to[r].size();
    if (const Err e = proto::coll::alltoall(comm.team, out.data(), in.data(), sizeof(uint64_t));
        e != Err::success)
        return e;
    const ControlChannel channel = ControlChannel::collective(comm.team);
    from.resize(p);
    for (int distance = 0; distance < comm.team.size; ++distance) {
        const int there = (comm.team.rank + distance) % comm.team.size;
        const int here = (comm.team.rank - distance + comm.team.size) % comm.team.size;
        std::vector<HalfEdge>& arriving = from[static_cast<size_t>(here)];
        const std::vector<HalfEdge>& leaving = to[static_cast<size_t>(there)];
        arriving.resize(in[static_cast<size_t>(here)]);
        if (const Err e = channel.sendrecv(there, leaving.data(), leaving.size() * sizeof(HalfEdge), here,
                                           arriving.data(), arriving.size() * sizeof(HalfEdge));
            e != Err::success)
            return e;
    }
    return Err::success;
}

void add_edge(DistGraph& graph, const HalfEdge& half) {
    (half.incoming ? graph.sources : graph.destinations).push_back(half.other);
    if (graph.weighted)
        (half.incoming ? graph.source_weights : graph.destination_weights).push_back(half.weight);
}

Err make_dist_graph(Comm& comm, DistGraph graph, bool reorder, Comm*& result) {
    Order order = identity_order(comm.team.size);
    if (reorder) {
        if (const Err e = order_vertices(comm, graph, order); e != Err::success) return e;
        if (const Err e = exchange_vertices(comm, order, graph); e != Err::success) return e;
    }
    auto topology = std::make_shared<Topology>();
    topology->kind = TopologyKind::dist_graph;
    topology->dist_graph = std::move(graph);
    return make_with_topology(comm, order, std::move(topology), result);
}

Err dist_graph_of(const Comm& comm, const DistGraph*& graph) {
    const Topology* topology = nullptr;
    const Err e = topology_of(comm, TopologyKind::dist_graph, topology);
    if (e == Err::success) graph = &topology->dist_graph;
    return e;
}

void copy_out(const std::vector<int>& from, int64_t capacity, int* to) {
    if (to != nullptr && is_array(to))
        std::copy_n(from.begin(), std::min<int64_t>(capacity, static_cast<int64_t>(from.size())), to);
}

} // namespace

Err dist_graph_create(Comm& comm, int64_t n, const int* sources, const int* degrees, const int* destinations,
                      const int* weights, Info*, bool reorder, Comm*& result) {
    if (const Err e = require_intra(comm); e != Err::success) return e;
    if (const Err e = check_ranks(comm, "sources", n, sources); e != Err::success) return e;
    int64_t count = 0;
    for (int64_t i = 0; i < n; ++i) {
        if (degrees == nullptr || degrees[i] < 0)
            return fail(Err::arg, "pass 0 or more for each source", "degrees is not valid");
        count += degrees[i];
    }
    if (const Err e = check_ranks(comm, "destinations", count, destinations); e != Err::success) return e;
    if (const Err e = check_weights("weights", count, weights); e != Err::success) return e;
    std::vector<std::vector<HalfEdge>> to(static_cast<size_t>(comm.team.size));
    int64_t edge = 0;
    for (int64_t i = 0; i < n; ++i)
        for (int k = 0; k < degrees[i]; ++k, ++edge) {
            const int weight = is_array(weights) ? weights[edge] : 1;
            to[static_cast<size_t>(sources[i])].push_back({destinations[edge], weight, false});
            to[static_cast<size_t>(destinations[edge])].push_back({sources[i], weight, true});
        }
    std::vector<std::vector<HalfEdge>> from;
    if (const Err e = exchange_edges(comm, to, from); e != Err::success) return e;
    DistGraph graph;
    graph.weighted = weights != unweighted;
    for (const std::vector<HalfEdge>& halves : from)
        for (const HalfEdge& half : halves) add_edge(graph, half);
    return make_dist_graph(comm, std::move(graph), reorder, result);
}

Err dist_graph_create_adjacent(Comm& comm, int indegree, const int* sources, const int* source_weights,
                               int outdegree, const int* destinations, const int* destination_weights, Info*,
                               bool reorder, Comm*& result) {
    if (const Err e = require_intra(comm); e != Err::success) return e;
    if (const Err e = check_ranks(comm, "sources", indegree, sources); e != Err::success) return e;
    if (const Err e = check_ranks(comm, "destinations", outdegree, destinations); e != Err::success) return e;
    if (const Err e = check_weights("sourceweights", indegree, source_weights); e != Err::success) return e;
    if (const Err e = check_weights("destweights", outdegree, destination_weights); e != Err::success)
        return e;
    DistGraph graph;
    graph.weighted = source_weights != unweighted || destination_weights != unweighted;
    for (int i = 0; i < indegree; ++i)
        add_edge(graph, {sources[i], is_array(source_weights) ? source_weights[i] : 1, true});
    for (int i = 0; i < outdegree; ++i)
        add_edge(graph, {destinations[i], is_array(destination_weights) ? destination_weights[i] : 1, false});
    return make_dist_graph(comm, std::move(graph), reorder, result);
}

Err dist_graph_neighbors_count(Comm& comm, int& indegree, int& outdegree, bool& weighted) {
    const DistGraph* graph = nullptr;
    if (const Err e = dist_graph_of(comm, graph); e != Err::success) return e;
    indegree = static_cast<int>(graph->sources.size());
    outdegree = static_cast<int>(graph->destinations.size());
    weighted = graph->weighted;
    return Err::success;
}

Err dist_graph_neighbors(Comm& comm, int64_t max_in, int* sources, int* source_weights, int64_t max_out,
                         int* destinations, int* destination_weights) {
    const DistGraph* graph = nullptr;
    if (const Err e = dist_graph_of(comm, graph); e != Err::success) return e;
    copy_out(graph->sources, max_in, sources);
    copy_out(graph->source_weights, max_in, source_weights);
    copy_out(graph->destinations, max_out, destinations);
    copy_out(graph->destination_weights, max_out, destination_weights);
    return Err::success;
}

} // namespace zipmpi::core
