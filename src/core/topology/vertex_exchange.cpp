// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/topology/vertex_exchange.hpp"

#include "core/comm/control_channel.hpp"
#include "core/topology/topology_util.hpp"
#include "proto/coll/coll.hpp"

#include <algorithm>
#include <numeric>

namespace zipmpi::core {
namespace {

std::vector<CommEdge> edges_from(const DistGraph& graph, int vertex) {
    std::vector<CommEdge> edges;
    for (size_t i = 0; i < graph.destinations.size(); ++i)
        edges.push_back({vertex, graph.destinations[i], graph.weighted ? graph.destination_weights[i] : 1});
    return edges;
}

Err gather_edges(Comm& comm, const std::vector<CommEdge>& own, std::vector<CommEdge>& all) {
    const auto rank = static_cast<size_t>(comm.team.rank);
    std::vector<uint64_t> counts(static_cast<size_t>(comm.team.size));
    counts[rank] = own.size();
    if (const Err e = proto::coll::allgather(comm.team, counts.data(), sizeof counts[0]); e != Err::success)
        return e;
    all.resize(std::accumulate(counts.begin(), counts.end(), uint64_t{0}));
    std::vector<proto::coll::Block> blocks;
    CommEdge* at = all.data();
    for (size_t r = 0; r < counts.size(); at += counts[r], ++r) {
        blocks.push_back({reinterpret_cast<std::byte*>(at), counts[r] * sizeof(CommEdge)});
        if (r == rank) std::copy(own.begin(), own.end(), at);
    }
    proto::coll::Collective collective(comm.team);
    proto::coll::allgatherv(collective, comm.team, blocks);
    return collective.run();
}

// Serializes a graph as a list of integers.
std::vector<int> serialize(const DistGraph& graph) {
    std::vector<int> text{graph.weighted ? 1 : 0, static_cast<int>(graph.sources.size())};
    for (const std::vector<int>* list :
         {&graph.sources, &graph.source_weights, &graph.destinations, &graph.destination_weights})
        text.insert(text.end(), list->begin(), list->end());
    return text;
}

DistGraph deserialize(const std::vector<int>& text) {
    DistGraph graph;
    graph.weighted = text[0] != 0;
    const size_t numbers = graph.weighted ? 2 : 1; // per edge
    const auto in = static_cast<size_t>(text[1]);
    const size_t out = (text.size() - 2) / numbers - in;
    auto at = text.begin() + 2;
    const auto take = [&at](std::vector<int>& list, size_t n) {
        list.assign(at, at + static_cast<ptrdiff_t>(n));
        at += static_cast<ptrdiff_t>(n);
    };
    take(graph.sources, in);
    take(graph.source_weights, graph.weighted ? in : 0);
    take(graph.destinations, out);
    take(graph.destination_weights, graph.weighted ? out : 0);
    return graph;
}

} // namespace

Err order_vertices(Comm& comm, const DistGraph& own, Order& order) {
    std::vector<CommEdge> edges;
    if (const Err e = gather_edges(comm, edges_from(own, comm.team.rank), edges); e != Err::success) return e;
    return collective_order(comm, comm.team.size, edges, order);
}

Err exchange_vertices(Comm& comm, const Order& order, DistGraph& graph) {
    if (order == identity_order(comm.team.size)) return Err::success;
    const int to = order[static_cast<size_t>(comm.team.rank)];
    const int from = own_rank_in(order, comm);
    const ControlChannel channel = ControlChannel::collective(comm.team);
    const std::vector<int> out = serialize(graph);
    uint64_t leaving = out.size();
    uint64_t coming = 0;
    if (const Err e = channel.sendrecv(to, &leaving, sizeof leaving, from, &coming, sizeof coming);
        e != Err::success)
        return e;
    std::vector<int> in(coming);
    if (const Err e = channel.sendrecv(to, out.data(), out.size() * sizeof(int), from, in.data(),
                                       in.size() * sizeof(int));
        e != Err::success)
        return e;
    graph = deserialize(in);
    return Err::success;
}

} // namespace zipmpi::core
