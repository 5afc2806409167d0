// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Communication graph: undirected, with weights. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace zipmpi::mapping {

struct Edge {
    uint32_t a = 0, b = 0;
    double weight = 0;
};

class Graph {
  public:
    struct Neighbor {
        uint32_t to;
        double weight;
    };
    Graph() = default;
    // Adds up both directions of a pair. Ignores messages of a rank to itself, whose cost does not depend on
    // the assignment, and weights that are not positive.
    Graph(uint32_t vertices, std::vector<Edge> edges);

    [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(first_.size() - 1); }
    [[nodiscard]] std::span<const Neighbor> neighbors(uint32_t v) const {
        return {neighbors_.data() + first_[v], first_[v + 1] - first_[v]};
    }
    [[nodiscard]] size_t neighbor_count() const { return neighbors_.size(); } // twice the edges
    // Induced subgraph; vertex i is vertices[i].
    [[nodiscard]] Graph subgraph(std::span<const uint32_t> vertices) const;

  private:
    std::vector<size_t> first_ = {0};
    std::vector<Neighbor> neighbors_;
};

} // namespace zipmpi::mapping
