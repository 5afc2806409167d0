// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the files of this folder share: a graph as the module wants it, and groups of targets.
#pragma once

#include "mapping/divide.hpp"

#include <algorithm>
#include <cmath>

namespace zipmpi::mapping {

class RawCopy {
  public:
    explicit RawCopy(const Graph& graph) {
        constexpr double most = 1 << 29; // the weights of all edges, and what is computed from them, are ints
        double sum = 1;
        for (uint32_t v = 0; v < graph.size(); ++v)
            for (const Graph::Link& l : graph.links(v)) sum += l.weight;
        const double scale = most / sum;
        for (uint32_t v = 0; v < graph.size(); ++v) {
            first_.push_back(static_cast<int32_t>(to_.size()));
            for (const Graph::Link& l : graph.links(v)) {
                to_.push_back(static_cast<int32_t>(l.to));
                weights_.push_back(static_cast<int32_t>(std::max(1.0, std::round(l.weight * scale))));
            }
        }
        first_.push_back(static_cast<int32_t>(to_.size()));
    }
    [[nodiscard]] RawGraph view() const {
        return {static_cast<int32_t>(first_.size()) - 1, first_.data(), to_.data(), weights_.data()};
    }

  private:
    std::vector<int32_t> first_, to_, weights_;
};

// Members that are connected by distances for which is_near(distance), in their order.
template <class IsNear>
std::vector<std::vector<uint32_t>> groups_within(const Targets& targets, const std::vector<uint32_t>& members,
                                                 IsNear is_near) {
    std::vector<std::vector<uint32_t>> groups;
    std::vector<bool> taken(members.size());
    for (size_t i = 0; i < members.size(); ++i) {
        if (taken[i]) continue;
        taken[i] = true;
        std::vector<size_t> found{i};
        for (size_t next = 0; next < found.size(); ++next)
            for (size_t j = i + 1; j < members.size(); ++j)
                if (!taken[j] && is_near(targets.between(members[found[next]], members[j]))) {
                    taken[j] = true;
                    found.push_back(j);
                }
        std::sort(found.begin(), found.end());
        groups.emplace_back();
        for (const size_t f : found) groups.back().push_back(members[f]);
    }
    return groups;
}

} // namespace zipmpi::mapping
