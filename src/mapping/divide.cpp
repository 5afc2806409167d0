// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mapping/divide.hpp"

#include "mapping/raw_graph.hpp"
#include "mapping/refine.hpp"

#include <algorithm>
#include <numeric>
#include <queue>

namespace zipmpi::mapping {
namespace {

constexpr uint32_t nowhere = UINT32_MAX;
constexpr uint64_t looks_of_a_partition = 300'000;

// Parts grow one by one, each by the vertex that talks most to what it has already.
std::vector<uint32_t> grown(const Graph& graph, const std::vector<uint32_t>& sizes) {
    std::vector<uint32_t> part_of(graph.size(), nowhere);
    std::vector<double> gain(graph.size());
    uint32_t next_free = 0;
    for (uint32_t p = 0; p < sizes.size(); ++p) {
        std::fill(gain.begin(), gain.end(), 0);
        std::priority_queue<std::pair<double, int64_t>>
            queue; // gains only grow: smaller ones are out of date
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
            for (const Graph::Link& l : graph.links(v))
                if (part_of[l.to] == nowhere)
                    queue.emplace(gain[l.to] += l.weight, -static_cast<int64_t>(l.to));
        }
    }
    return part_of;
}

// Parts get the sizes they must have: from one that is too large goes, each time, the vertex that loses
// least.
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
            for (const Graph::Link& l : graph.links(v)) to_part[part_of[l.to]] += l.weight;
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

// Ranks change parts as long as that leaves less between them.
void polish(const Graph& graph, const std::vector<uint32_t>& sizes, std::vector<uint32_t>& part_of) {
    Targets parts;
    parts.room = sizes;
    parts.distance.assign(sizes.size() * sizes.size(), 1);
    for (size_t p = 0; p < sizes.size(); ++p) parts.distance[p * sizes.size() + p] = 0;
    search(graph, parts, part_of, looks_of_a_partition, 1);
}

// Groups of targets that are nearer to each other than the farthest two of all.
std::vector<std::vector<uint32_t>> near_groups(const Targets& targets, const std::vector<uint32_t>& members) {
    double farthest = 0;
    for (const uint32_t a : members)
        for (const uint32_t b : members)
            if (a != b) farthest = std::max(farthest, targets.between(a, b));
    return groups_within(targets, members, [&](double d) { return d < farthest; });
}

// How many of `ranks` go to each group: by their room.
std::vector<uint32_t> shares(const std::vector<uint64_t>& rooms, uint64_t ranks) {
    uint64_t room = std::accumulate(rooms.begin(), rooms.end(), uint64_t{0});
    std::vector<uint32_t> sizes;
    for (const uint64_t r : rooms) {
        const uint64_t share = room == 0 ? 0 : std::min(r, (ranks * r + room - 1) / room);
        sizes.push_back(static_cast<uint32_t>(share));
        ranks -= share;
        room -= r;
    }
    return sizes;
}

void place_part(const Graph& graph, const Targets& targets, const GraphTools* tools,
                const std::vector<uint32_t>& members, const std::vector<uint32_t>& ranks,
                Assignment& result) {
    if (ranks.empty()) return;
    if (members.size() == 1) {
        for (const uint32_t r : ranks) result[r] = members[0];
        return;
    }
    auto groups = near_groups(targets, members);
    if (groups.size() == 1) { // not a tree: each for itself
        groups.clear();
        for (const uint32_t m : members) groups.push_back({m});
    }
    std::vector<uint64_t> rooms;
    for (const auto& group : groups) {
        rooms.push_back(0);
        for (const uint32_t m : group) rooms.back() += targets.room[m];
    }
    const auto part_of = partition(graph.part(ranks), shares(rooms, ranks.size()), tools);
    std::vector<std::vector<uint32_t>> parts(groups.size());
    for (size_t i = 0; i < ranks.size(); ++i) parts[part_of[i]].push_back(ranks[i]);
    for (size_t g = 0; g < groups.size(); ++g) place_part(graph, targets, tools, groups[g], parts[g], result);
}

std::vector<uint32_t> first_partition(const Graph& graph, const std::vector<uint32_t>& sizes,
                                      const GraphTools* tools) {
    const auto filled = std::ranges::count_if(sizes, [](uint32_t s) { return s > 0; });
    if (tools == nullptr || tools->partition == nullptr || filled < 2 || graph.link_count() == 0)
        return grown(graph, sizes);
    const RawCopy raw(graph);
    std::vector<int32_t> loads;
    std::vector<uint32_t> numbers; // of parts that are not empty
    for (uint32_t p = 0; p < sizes.size(); ++p)
        if (sizes[p] > 0) {
            numbers.push_back(p);
            loads.push_back(static_cast<int32_t>(sizes[p]));
        }
    std::vector<int32_t> found(graph.size());
    if (!tools->partition(raw.view(), static_cast<int32_t>(loads.size()), loads.data(), found.data()))
        return grown(graph, sizes);
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
    std::vector<uint32_t> part_of = first_partition(graph, sizes, tools);
    polish(graph, sizes, part_of);
    return part_of;
}

Assignment down_the_tree(const Graph& graph, const Targets& targets, const GraphTools* tools) {
    Assignment result(graph.size());
    std::vector<uint32_t> members;
    for (uint32_t t = 0; t < targets.size(); ++t)
        if (targets.room[t] > 0) members.push_back(t);
    std::vector<uint32_t> ranks(graph.size());
    std::iota(ranks.begin(), ranks.end(), 0U);
    place_part(graph, targets, tools, members, ranks, result);
    return result;
}

} // namespace zipmpi::mapping
