// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mapping/targets.hpp"

#include "base/stable_sort.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace zipmpi::mapping {
namespace {

auto sort_key(const hwtopo::Locality& p) { return std::tuple(p.package, p.numa, p.l3, p.l2, p.core, p.cpu); }

// Takes one core of each object of a level in turn; the cores of one object are ordered by the next level.
CoreOrder interleave(const std::vector<hwtopo::Locality>& cores, const CoreOrder& members, size_t level) {
    if (level == std::size(hwtopo::levels) || members.size() < 2) return members;
    std::map<uint16_t, CoreOrder> groups; // by logical index: hardware order
    for (const uint32_t c : members) groups[hwtopo::index_at(cores[c], hwtopo::levels[level])].push_back(c);
    std::vector<CoreOrder> inner;
    inner.reserve(groups.size());
    for (const auto& [index, group] : groups) inner.push_back(interleave(cores, group, level + 1));
    CoreOrder order;
    for (size_t i = 0; order.size() < members.size(); ++i)
        for (const CoreOrder& group : inner)
            if (i < group.size()) order.push_back(group[i]);
    return order;
}

} // namespace

uint64_t Targets::total_capacity() const {
    return std::accumulate(capacity.begin(), capacity.end(), uint64_t{0});
}

double cost_of(const Graph& graph, const Targets& targets, const Assignment& assignment) {
    double cost = 0;
    for (uint32_t v = 0; v < graph.size(); ++v)
        for (const Graph::Neighbor& l : graph.neighbors(v))
            if (l.to > v) cost += l.weight * targets.between(assignment[v], assignment[l.to]);
    return cost;
}

double distance_of(hwtopo::PairClass pair) {
    constexpr double distances[] = {1, 1, 2, 3.5, 5};
    static_assert(std::size(distances) == hwtopo::pair_classes);
    return distances[static_cast<size_t>(pair)];
}

CoreOrder compact_order(const std::vector<hwtopo::Locality>& cores) {
    CoreOrder order(cores.size());
    std::iota(order.begin(), order.end(), 0U);
    stable_sort(order, [&](uint32_t a, uint32_t b) { return sort_key(cores[a]) < sort_key(cores[b]); });
    return order;
}

CoreOrder spread_order(const std::vector<hwtopo::Locality>& cores) {
    return interleave(cores, compact_order(cores), 0);
}

CoreOrder kernel_order(const std::vector<hwtopo::Locality>& cores, const std::vector<int>& first_cpus) {
    CoreOrder order = compact_order(cores);
    stable_sort(order, [&](uint32_t a, uint32_t b) { return first_cpus[a] < first_cpus[b]; });
    return order;
}

Assignment assign_round_robin(uint32_t ranks, const CoreOrder& order) {
    Assignment assignment(ranks);
    for (uint32_t r = 0; r < ranks; ++r) assignment[r] = order[r % order.size()];
    return assignment;
}

Targets cores_as_targets(const std::vector<hwtopo::Locality>& cores, uint32_t ranks, const CoreOrder& order) {
    Targets t;
    const auto count = static_cast<uint32_t>(cores.size());
    t.capacity.assign(cores.size(), ranks / count);
    for (uint32_t i = 0; i < ranks % count; ++i) ++t.capacity[order[i]];
    t.distance.resize(cores.size() * cores.size());
    for (size_t a = 0; a < cores.size(); ++a)
        for (size_t b = 0; b < cores.size(); ++b)
            t.distance[a * cores.size() + b] =
                distance_of(a == b ? hwtopo::PairClass::same_core : hwtopo::pair_class(cores[a], cores[b]));
    return t;
}

Targets nodes_as_targets(const std::vector<uint32_t>& slots) {
    Targets t;
    t.capacity = slots;
    t.distance.assign(slots.size() * slots.size(), network_distance);
    for (size_t a = 0; a < slots.size(); ++a)
        t.distance[a * slots.size() + a] = distance_of(hwtopo::assumed_class);
    return t;
}

} // namespace zipmpi::mapping
