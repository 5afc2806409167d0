// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Helpers of this folder: conversion of a graph to compressed rows, and groups of targets.
#pragma once

#include "mapping/partition.hpp"

#include <algorithm>
#include <cmath>

namespace zipmpi::mapping {

class CsrCopy {
  public:
    explicit CsrCopy(const Graph& graph) {
        constexpr double most = 1 << 29; // edge weights and values computed from them must fit an int
        double sum = 1;
        for (uint32_t v = 0; v < graph.size(); ++v)
            for (const Graph::Neighbor& l : graph.neighbors(v)) sum += l.weight;
        const double scale = most / sum;
        for (uint32_t v = 0; v < graph.size(); ++v) {
            first_.push_back(static_cast<int32_t>(to_.size()));
            for (const Graph::Neighbor& l : graph.neighbors(v)) {
                to_.push_back(static_cast<int32_t>(l.to));
                weights_.push_back(static_cast<int32_t>(std::max(1.0, std::round(l.weight * scale))));
            }
        }
        first_.push_back(static_cast<int32_t>(to_.size()));
    }
    [[nodiscard]] CsrGraph view() const {
        return {static_cast<int32_t>(first_.size()) - 1, first_.data(), to_.data(), weights_.data()};
    }

  private:
    std::vector<int32_t> first_, to_, weights_;
};

// Connected groups of members, where is_close(distance) connects two members; member order is kept.
template <class IsNear>
std::vector<std::vector<uint32_t>> groups_within(const Targets& targets, const std::vector<uint32_t>& members,
                                                 IsNear is_close) {
    std::vector<std::vector<uint32_t>> groups;
    std::vector<bool> taken(members.size());
    for (size_t i = 0; i < members.size(); ++i) {
        if (taken[i]) continue;
        taken[i] = true;
        std::vector<size_t> found{i};
        for (size_t next = 0; next < found.size(); ++next)
            for (size_t j = i + 1; j < members.size(); ++j)
                if (!taken[j] && is_close(targets.between(members[found[next]], members[j]))) {
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
