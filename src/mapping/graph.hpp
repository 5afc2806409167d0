// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Who talks to whom, and how much: an undirected graph with weights. Pure.
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
    struct Link {
        uint32_t to;
        double weight;
    };
    Graph() = default;
    // Both directions of a pair are added up; a rank's messages to itself cost the same everywhere and are
    // left out, as are weights that are not positive.
    Graph(uint32_t vertices, std::vector<Edge> edges);

    [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(first_.size() - 1); }
    [[nodiscard]] std::span<const Link> links(uint32_t v) const {
        return {links_.data() + first_[v], first_[v + 1] - first_[v]};
    }
    [[nodiscard]] size_t link_count() const { return links_.size(); } // twice the edges
    // The graph of some of its vertices, numbered as they stand there.
    [[nodiscard]] Graph part(std::span<const uint32_t> vertices) const;

  private:
    std::vector<size_t> first_ = {0};
    std::vector<Link> links_;
};

} // namespace zipmpi::mapping
