// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mapping/assign.hpp"

#include "mapping/csr_graph.hpp"
#include "mapping/refine.hpp"

#include <algorithm>
#include <numeric>

namespace zipmpi::mapping {
namespace {

using Members = std::vector<uint32_t>; // targets

bool is_direct(double distance) { return distance <= network_distance; }

uint32_t capacity_of(const Targets& targets, const Members& members) {
    uint64_t capacity = 0;
    for (const uint32_t m : members) capacity += targets.capacity[m];
    return static_cast<uint32_t>(std::min<uint64_t>(capacity, UINT32_MAX / 4));
}

struct Candidate {
    Members middle, left, right;
    uint32_t balance = 0; // capacity of the smaller side
};

Members without(const Members& all, const Members& some) {
    Members rest;
    std::ranges::set_difference(all, some, std::back_inserter(rest));
    return rest;
}

// Finds targets with equal direct neighbors whose removal disconnects the others. Of several such groups,
// returns the one with the best balance.
Candidate find_target_separator(const Targets& targets, const Members& members) {
    Candidate best;
    const auto reaches_the_same = [&](uint32_t a, uint32_t b) {
        return std::ranges::all_of(members, [&](uint32_t t) {
            return is_direct(targets.between(a, t)) == is_direct(targets.between(b, t));
        });
    };
    Members done;
    for (const uint32_t first : members) {
        if (std::ranges::count(done, first) != 0) continue;
        Members group;
        for (const uint32_t t : members)
            if (reaches_the_same(first, t)) group.push_back(t);
        done.insert(done.end(), group.begin(), group.end());
        const Members rest = without(members, group);
        const auto parts = groups_within(targets, rest, is_direct);
        if (parts.size() < 2) continue;
        Members left;
        for (size_t p = 0; p + 1 < parts.size(); ++p) {
            left.insert(left.end(), parts[p].begin(), parts[p].end());
            std::sort(left.begin(), left.end());
            const Members right = without(rest, left);
            const uint32_t balance = std::min(capacity_of(targets, left), capacity_of(targets, right));
            if (balance > best.balance) best = {group, left, right, balance};
        }
    }
    return best;
}

Targets select_targets(const Targets& targets, const Members& members) {
    Targets selected;
    for (const uint32_t a : members) {
        selected.capacity.push_back(targets.capacity[a]);
        for (const uint32_t b : members) selected.distance.push_back(targets.between(a, b));
    }
    return selected;
}

constexpr uint32_t unassigned = UINT32_MAX;

// Cost of messages between the ranks of a side, placed at this target, and ranks already assigned.
double outward_cost(const Graph& graph, const Targets& targets, const std::vector<uint32_t>& ranks,
                    const std::vector<uint32_t>& side, uint32_t which, uint32_t target,
                    const Assignment& assigned) {
    double cost = 0;
    for (size_t i = 0; i < ranks.size(); ++i) {
        if (side[i] != which) continue;
        for (const Graph::Neighbor& l : graph.neighbors(ranks[i]))
            if (assigned[l.to] != unassigned) cost += l.weight * targets.between(target, assigned[l.to]);
    }
    return cost;
}

// Swaps the sides if that reduces the cost to ranks already assigned.
void orient_sides(const Graph& graph, const Targets& targets, const Candidate& cut,
                  const SideCapacity& capacity, const std::vector<uint32_t>& ranks,
                  const Assignment& assigned, std::vector<uint32_t>& side) {
    const auto count = [&](uint32_t which) { return std::ranges::count(side, which); };
    if (count(left) > capacity.right || count(right) > capacity.left) return;
    const auto cost = [&](uint32_t at_left, uint32_t at_right) {
        return outward_cost(graph, targets, ranks, side, at_left, cut.left[0], assigned) +
               outward_cost(graph, targets, ranks, side, at_right, cut.right[0], assigned);
    };
    if (cost(left, right) <= cost(right, left)) return;
    for (uint32_t& s : side)
        if (s != middle) s = 1 - s;
}

void separate_recursively(const Graph& graph, const Targets& targets, const GraphTools* tools,
                          const Members& members, const std::vector<uint32_t>& ranks, Assignment& result) {
    const Candidate cut = find_target_separator(targets, members);
    const Graph subgraph = graph.subgraph(ranks);
    if (cut.balance == 0) {
        const Assignment inner = partition_hierarchically(subgraph, select_targets(targets, members), tools);
        for (size_t i = 0; i < ranks.size(); ++i) result[ranks[i]] = members[inner[i]];
        return;
    }
    const SideCapacity capacity{capacity_of(targets, cut.left), capacity_of(targets, cut.right),
                                capacity_of(targets, cut.middle)};
    std::vector<uint32_t> side = separate(subgraph, capacity, tools);
    orient_sides(graph, targets, cut, capacity, ranks, result, side);
    const Members* where[] = {&cut.left, &cut.right, &cut.middle};
    for (const uint32_t s : {uint32_t{middle}, uint32_t{left}, uint32_t{right}}) {
        std::vector<uint32_t> here;
        for (size_t i = 0; i < ranks.size(); ++i)
            if (side[i] == s) here.push_back(ranks[i]);
        if (!here.empty()) separate_recursively(graph, targets, tools, *where[s], here, result);
    }
}

bool fits_capacity(const Targets& targets, const Assignment& assignment, uint32_t ranks) {
    std::vector<uint32_t> used(targets.size());
    return assignment.size() == ranks && std::ranges::all_of(assignment, [&](uint32_t t) {
               return t < targets.size() && ++used[t] <= targets.capacity[t];
           });
}

} // namespace

Assignment assign_block(uint32_t ranks, const Targets& targets) {
    Assignment result;
    for (uint32_t t = 0; t < targets.size(); ++t)
        for (uint32_t i = 0; i < targets.capacity[t] && result.size() < ranks; ++i) result.push_back(t);
    return result;
}

Assignment assign_cyclic(uint32_t ranks, const Targets& targets) {
    Assignment result;
    for (uint32_t round = 0; result.size() < ranks; ++round)
        for (uint32_t t = 0; t < targets.size() && result.size() < ranks; ++t)
            if (round < targets.capacity[t]) result.push_back(t);
    return result;
}

Targets clusters_as_targets(const std::vector<uint32_t>& slots, const std::vector<uint32_t>& gateways) {
    Targets t = nodes_as_targets(slots);
    for (size_t i = 0; i < t.distance.size(); ++i) t.distance[i] += gateway_distance * gateways[i];
    return t;
}

Assignment separate_at_gateways(const Graph& graph, const Targets& targets, const GraphTools* tools) {
    Members members;
    for (uint32_t t = 0; t < targets.size(); ++t)
        if (targets.capacity[t] > 0) members.push_back(t);
    if (std::ranges::all_of(targets.distance, is_direct) ||
        find_target_separator(targets, members).balance == 0)
        return {};
    std::vector<uint32_t> ranks(graph.size());
    std::iota(ranks.begin(), ranks.end(), 0U);
    Assignment result(graph.size(), unassigned);
    separate_recursively(graph, targets, tools, members, ranks, result);
    return result;
}

Assignment assign_ranks(const Graph& graph, const Targets& targets, const Effort& effort,
                        const std::vector<Assignment>& initial) {
    std::vector<Assignment> starts = initial;
    starts.push_back(assign_block(graph.size(), targets));
    starts.push_back(assign_cyclic(graph.size(), targets));
    starts.push_back(separate_at_gateways(graph, targets, effort.tools));
    if (effort.tools != nullptr) starts.push_back(partition_hierarchically(graph, targets, effort.tools));
    starts.push_back(partition_hierarchically(graph, targets, nullptr));
    std::erase_if(starts, [&](const Assignment& a) { return !fits_capacity(targets, a, graph.size()); });
    Assignment best = starts[0];
    double lowest = cost_of(graph, targets, best);
    const auto consider = [&](const Assignment& a) {
        const double cost = cost_of(graph, targets, a);
        if (cost >= lowest * (1 - 1e-9)) return;
        best = a;
        lowest = cost;
    };
    for (const Assignment& start : starts) consider(start);
    const uint64_t share = effort.budget / (2 * starts.size());
    for (Assignment& start : starts) {
        search(graph, targets, start, share, effort.seed);
        consider(start);
    }
    Assignment last = best;
    search(graph, targets, last, effort.budget / 2, effort.seed + 1);
    consider(last);
    return best;
}

} // namespace zipmpi::mapping
