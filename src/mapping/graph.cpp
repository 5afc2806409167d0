// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mapping/graph.hpp"

#include "base/stable_sort.hpp"

#include <algorithm>
#include <utility>

namespace zipmpi::mapping {

Graph::Graph(uint32_t vertices, std::vector<Edge> edges)
    : first_(size_t{vertices} + 1) {
    for (Edge& e : edges)
        if (e.a > e.b) std::swap(e.a, e.b);
    std::erase_if(edges, [](const Edge& e) { return e.a == e.b || !(e.weight > 0); });
    stable_sort(edges,
                [](const Edge& x, const Edge& y) { return std::pair(x.a, x.b) < std::pair(y.a, y.b); });
    std::vector<Edge> merged;
    for (const Edge& e : edges) {
        if (!merged.empty() && merged.back().a == e.a && merged.back().b == e.b)
            merged.back().weight += e.weight;
        else
            merged.push_back(e);
    }
    for (const Edge& e : merged) {
        ++first_[e.a + 1];
        ++first_[e.b + 1];
    }
    for (size_t v = 0; v < vertices; ++v) first_[v + 1] += first_[v];
    std::vector<size_t> next(first_.begin(), first_.end() - 1);
    neighbors_.resize(merged.size() * 2);
    for (const Edge& e : merged) {
        neighbors_[next[e.a]++] = {e.b, e.weight};
        neighbors_[next[e.b]++] = {e.a, e.weight};
    }
}

Graph Graph::subgraph(std::span<const uint32_t> vertices) const {
    constexpr uint32_t outside = UINT32_MAX;
    std::vector<uint32_t> number(size(), outside);
    for (uint32_t i = 0; i < vertices.size(); ++i) number[vertices[i]] = i;
    std::vector<Edge> edges;
    for (uint32_t i = 0; i < vertices.size(); ++i)
        for (const Neighbor& l : neighbors(vertices[i]))
            if (number[l.to] != outside && number[l.to] > i) edges.push_back({i, number[l.to], l.weight});
    return {static_cast<uint32_t>(vertices.size()), std::move(edges)};
}

} // namespace zipmpi::mapping
