// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mapping/partition.hpp"

#include "mapping/csr_graph.hpp"
#include "mapping/refine.hpp"

#include <algorithm>
#include <numeric>
#include <queue>

namespace zipmpi::mapping {
namespace {

constexpr uint32_t nowhere = UINT32_MAX;
constexpr uint64_t partition_budget = 300'000;

// Grows parts one by one, each by the vertex with the largest weight to the part.
std::vector<uint32_t> grow_parts(const Graph& graph, const std::vector<uint32_t>& sizes) {
    std::vector<uint32_t> part_of(graph.size(), nowhere);
    std::vector<double> gain(graph.size());
    uint32_t next_free = 0;
    for (uint32_t p = 0; p < sizes.size(); ++p) {
        std::fill(gain.begin(), gain.end(), 0);
        std::priority_queue<std::pair<double, int64_t>>
            queue; // gains only grow: entries with smaller gains are stale
        for (uint32_t n = 0; n < sizes[p]; ++n) {
            uint32_t v = nowhere;
            while (v == nowhere && !queue.empty()) {
                const auto [g, negative] = queue.top();
                queue.pop();
                const auto top = static_cast<uint32_t>(-negative);
                if (part_of[top] == nowhere && g == gain[top]) v = top;
            }
            while (v == nowhere)
                if (part_of[next_free] == nowhere)
                    v = next_free;
                else
                    ++next_free;
            part_of[v] = p;
            for (const Graph::Neighbor& l : graph.neighbors(v))
                if (part_of[l.to] == nowhere)
                    queue.emplace(gain[l.to] += l.weight, -static_cast<int64_t>(l.to));
        }
    }
    return part_of;
}

// Corrects part sizes: moves the vertex with the smallest loss out of a part that is too large, repeatedly.
void correct_sizes(const Graph& graph, const std::vector<uint32_t>& sizes, std::vector<uint32_t>& part_of) {
    std::vector<int64_t> missing(sizes.begin(), sizes.end());
    for (const uint32_t p : part_of) --missing[p];
    for (;;) {
        uint32_t best = nowhere;
        uint32_t best_part = 0;
        double best_gain = 0;
        std::vector<double> to_part(sizes.size());
        for (uint32_t v = 0; v < graph.size(); ++v) {
            if (missing[part_of[v]] >= 0) continue;
            std::fill(to_part.begin(), to_part.end(), 0);
            for (const Graph::Neighbor& l : graph.neighbors(v)) to_part[part_of[l.to]] += l.weight;
            for (uint32_t p = 0; p < sizes.size(); ++p) {
                const double gain = to_part[p] - to_part[part_of[v]];
                if (missing[p] <= 0 || (best != nowhere && gain <= best_gain)) continue;
                best = v, best_part = p, best_gain = gain;
            }
        }
        if (best == nowhere) return;
        ++missing[part_of[best]];
        --missing[best_part];
        part_of[best] = best_part;
    }
}

// Exchanges vertices between parts as long as the cut weight decreases.
void refine_partition(const Graph& graph, const std::vector<uint32_t>& sizes,
                      std::vector<uint32_t>& part_of) {
    Targets parts;
    parts.capacity = sizes;
    parts.distance.assign(sizes.size() * sizes.size(), 1);
    for (size_t p = 0; p < sizes.size(); ++p) parts.distance[p * sizes.size() + p] = 0;
    search(graph, parts, part_of, partition_budget, 1);
}

// Groups of targets connected by distances smaller than the largest distance.
std::vector<std::vector<uint32_t>> closer_groups(const Targets& targets,
                                                 const std::vector<uint32_t>& members) {
    double max_distance = 0;
    for (const uint32_t a : members)
        for (const uint32_t b : members)
            if (a != b) max_distance = std::max(max_distance, targets.between(a, b));
    return groups_within(targets, members, [&](double d) { return d < max_distance; });
}

// Number of `ranks` for each group, proportional to its capacity.
std::vector<uint32_t> proportional_sizes(const std::vector<uint64_t>& capacities, uint64_t ranks) {
    uint64_t capacity = std::accumulate(capacities.begin(), capacities.end(), uint64_t{0});
    std::vector<uint32_t> sizes;
    for (const uint64_t r : capacities) {
        const uint64_t share = capacity == 0 ? 0 : std::min(r, (ranks * r + capacity - 1) / capacity);
        sizes.push_back(static_cast<uint32_t>(share));
        ranks -= share;
        capacity -= r;
    }
    return sizes;
}

void assign_subtree(const Graph& graph, const Targets& targets, const GraphTools* tools,
                    const std::vector<uint32_t>& members, const std::vector<uint32_t>& ranks,
                    Assignment& result) {
    if (ranks.empty()) return;
    if (members.size() == 1) {
        for (const uint32_t r : ranks) result[r] = members[0];
        return;
    }
    auto groups = closer_groups(targets, members);
    if (groups.size() == 1) { // no hierarchy: each target is a group
        groups.clear();
        for (const uint32_t m : members) groups.push_back({m});
    }
    std::vector<uint64_t> capacities;
    for (const auto& group : groups) {
        capacities.push_back(0);
        for (const uint32_t m : group) capacities.back() += targets.capacity[m];
    }
    const auto part_of =
        partition(graph.subgraph(ranks), proportional_sizes(capacities, ranks.size()), tools);
    std::vector<std::vector<uint32_t>> parts(groups.size());
    for (size_t i = 0; i < ranks.size(); ++i) parts[part_of[i]].push_back(ranks[i]);
    for (size_t g = 0; g < groups.size(); ++g)
        assign_subtree(graph, targets, tools, groups[g], parts[g], result);
}

std::vector<uint32_t> initial_partition(const Graph& graph, const std::vector<uint32_t>& sizes,
                                        const GraphTools* tools) {
    const auto filled = std::ranges::count_if(sizes, [](uint32_t s) { return s > 0; });
    if (tools == nullptr || tools->partition == nullptr || filled < 2 || graph.neighbor_count() == 0)
        return grow_parts(graph, sizes);
    const CsrCopy raw(graph);
    std::vector<int32_t> loads;
    std::vector<uint32_t> numbers; // indices of nonempty parts
    for (uint32_t p = 0; p < sizes.size(); ++p)
        if (sizes[p] > 0) {
            numbers.push_back(p);
            loads.push_back(static_cast<int32_t>(sizes[p]));
        }
    std::vector<int32_t> found(graph.size());
    if (!tools->partition(raw.view(), static_cast<int32_t>(loads.size()), loads.data(), found.data()))
        return grow_parts(graph, sizes);
    std::vector<uint32_t> part_of;
    part_of.reserve(found.size());
    for (const int32_t f : found)
        part_of.push_back(
            numbers[std::clamp<size_t>(static_cast<size_t>(std::max(f, 0)), 0, numbers.size() - 1)]);
    correct_sizes(graph, sizes, part_of);
    return part_of;
}

} // namespace

std::vector<uint32_t> partition(const Graph& graph, const std::vector<uint32_t>& sizes,
                                const GraphTools* tools) {
    std::vector<uint32_t> part_of = initial_partition(graph, sizes, tools);
    refine_partition(graph, sizes, part_of);
    return part_of;
}

Assignment partition_hierarchically(const Graph& graph, const Targets& targets, const GraphTools* tools) {
    Assignment result(graph.size());
    std::vector<uint32_t> members;
    for (uint32_t t = 0; t < targets.size(); ++t)
        if (targets.capacity[t] > 0) members.push_back(t);
    std::vector<uint32_t> ranks(graph.size());
    std::iota(ranks.begin(), ranks.end(), 0U);
    assign_subtree(graph, targets, tools, members, ranks, result);
    return result;
}

} // namespace zipmpi::mapping
