// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mapping/best.hpp"

#include "mapping/raw_graph.hpp"
#include "mapping/refine.hpp"

#include <algorithm>
#include <numeric>

namespace zipmpi::mapping {
namespace {

using Members = std::vector<uint32_t>; // targets

bool is_direct(double distance) { return distance <= network_distance; }

uint32_t room_of(const Targets& targets, const Members& members) {
    uint64_t room = 0;
    for (const uint32_t m : members) room += targets.room[m];
    return static_cast<uint32_t>(std::min<uint64_t>(room, UINT32_MAX / 4));
}

struct Cut {
    Members middle, left, right;
    uint32_t balance = 0; // room of the smaller side
};

Members without(const Members& all, const Members& some) {
    Members rest;
    std::ranges::set_difference(all, some, std::back_inserter(rest));
    return rest;
}

// Targets that reach the same ones directly, and without which the others fall apart. Of several such groups
// the one that leaves the most equal halves.
Cut find_cut(const Targets& targets, const Members& members) {
    Cut best;
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
            const uint32_t balance = std::min(room_of(targets, left), room_of(targets, right));
            if (balance > best.balance) best = {group, left, right, balance};
        }
    }
    return best;
}

Targets part_of(const Targets& targets, const Members& members) {
    Targets part;
    for (const uint32_t a : members) {
        part.room.push_back(targets.room[a]);
        for (const uint32_t b : members) part.distance.push_back(targets.between(a, b));
    }
    return part;
}

constexpr uint32_t unplaced = UINT32_MAX;

// What ranks on a side say to those that have a place already, if the side is at this target.
double outward_cost(const Graph& graph, const Targets& targets, const std::vector<uint32_t>& ranks,
                    const std::vector<uint32_t>& side, uint32_t which, uint32_t target,
                    const Assignment& placed) {
    double cost = 0;
    for (size_t i = 0; i < ranks.size(); ++i) {
        if (side[i] != which) continue;
        for (const Graph::Link& l : graph.links(ranks[i]))
            if (placed[l.to] != unplaced) cost += l.weight * targets.between(target, placed[l.to]);
    }
    return cost;
}

// The sides change their names if that brings them nearer to what is placed already.
void turn_round(const Graph& graph, const Targets& targets, const Cut& cut, const Rooms& rooms,
                const std::vector<uint32_t>& ranks, const Assignment& placed, std::vector<uint32_t>& side) {
    const auto count = [&](uint32_t which) { return std::ranges::count(side, which); };
    if (count(left) > rooms.right || count(right) > rooms.left) return;
    const auto cost = [&](uint32_t at_left, uint32_t at_right) {
        return outward_cost(graph, targets, ranks, side, at_left, cut.left[0], placed) +
               outward_cost(graph, targets, ranks, side, at_right, cut.right[0], placed);
    };
    if (cost(left, right) <= cost(right, left)) return;
    for (uint32_t& s : side)
        if (s != middle) s = 1 - s;
}

void divide(const Graph& graph, const Targets& targets, const GraphTools* tools, const Members& members,
            const std::vector<uint32_t>& ranks, Assignment& result) {
    const Cut cut = find_cut(targets, members);
    const Graph part = graph.part(ranks);
    if (cut.balance == 0) {
        const Assignment inner = down_the_tree(part, part_of(targets, members), tools);
        for (size_t i = 0; i < ranks.size(); ++i) result[ranks[i]] = members[inner[i]];
        return;
    }
    const Rooms rooms{room_of(targets, cut.left), room_of(targets, cut.right), room_of(targets, cut.middle)};
    std::vector<uint32_t> side = separate(part, rooms, tools);
    turn_round(graph, targets, cut, rooms, ranks, result, side);
    const Members* where[] = {&cut.left, &cut.right, &cut.middle};
    for (const uint32_t s : {uint32_t{middle}, uint32_t{left}, uint32_t{right}}) {
        std::vector<uint32_t> here;
        for (size_t i = 0; i < ranks.size(); ++i)
            if (side[i] == s) here.push_back(ranks[i]);
        if (!here.empty()) divide(graph, targets, tools, *where[s], here, result);
    }
}

bool keeps_to_rooms(const Targets& targets, const Assignment& assignment, uint32_t ranks) {
    std::vector<uint32_t> used(targets.size());
    return assignment.size() == ranks && std::ranges::all_of(assignment, [&](uint32_t t) {
               return t < targets.size() && ++used[t] <= targets.room[t];
           });
}

} // namespace

Assignment fill(uint32_t ranks, const Targets& targets) {
    Assignment result;
    for (uint32_t t = 0; t < targets.size(); ++t)
        for (uint32_t i = 0; i < targets.room[t] && result.size() < ranks; ++i) result.push_back(t);
    return result;
}

Assignment take_turns(uint32_t ranks, const Targets& targets) {
    Assignment result;
    for (uint32_t round = 0; result.size() < ranks; ++round)
        for (uint32_t t = 0; t < targets.size() && result.size() < ranks; ++t)
            if (round < targets.room[t]) result.push_back(t);
    return result;
}

Targets grid_as_targets(const std::vector<uint32_t>& slots, const std::vector<uint32_t>& gateways) {
    Targets t = nodes_as_targets(slots);
    for (size_t i = 0; i < t.distance.size(); ++i) t.distance[i] += gateway_distance * gateways[i];
    return t;
}

Assignment through_the_middle(const Graph& graph, const Targets& targets, const GraphTools* tools) {
    Members members;
    for (uint32_t t = 0; t < targets.size(); ++t)
        if (targets.room[t] > 0) members.push_back(t);
    if (std::ranges::all_of(targets.distance, is_direct) || find_cut(targets, members).balance == 0)
        return {};
    std::vector<uint32_t> ranks(graph.size());
    std::iota(ranks.begin(), ranks.end(), 0U);
    Assignment result(graph.size(), unplaced);
    divide(graph, targets, tools, members, ranks, result);
    return result;
}

Assignment best_assignment(const Graph& graph, const Targets& targets, const Effort& effort,
                           const std::vector<Assignment>& given) {
    std::vector<Assignment> starts = given;
    starts.push_back(fill(graph.size(), targets));
    starts.push_back(take_turns(graph.size(), targets));
    starts.push_back(through_the_middle(graph, targets, effort.tools));
    if (effort.tools != nullptr) starts.push_back(down_the_tree(graph, targets, effort.tools));
    starts.push_back(down_the_tree(graph, targets, nullptr));
    std::erase_if(starts, [&](const Assignment& a) { return !keeps_to_rooms(targets, a, graph.size()); });
    Assignment best = starts[0];
    double lowest = cost_of(graph, targets, best);
    const auto offer = [&](const Assignment& a) {
        const double cost = cost_of(graph, targets, a);
        if (cost >= lowest * (1 - 1e-9)) return;
        best = a;
        lowest = cost;
    };
    for (const Assignment& start : starts) offer(start);
    const uint64_t share = effort.looks / (2 * starts.size());
    for (Assignment& start : starts) {
        search(graph, targets, start, share, effort.seed);
        offer(start);
    }
    Assignment last = best;
    search(graph, targets, last, effort.looks / 2, effort.seed + 1);
    offer(last);
    return best;
}

} // namespace zipmpi::mapping
