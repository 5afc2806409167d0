// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reduce-scatter: within the nodes to their leaders, each of which gets the parts of its node from the
// others and hands them out. 2 N + A.
#include "proto/coll/two_level/two_level.hpp"

#include "proto/coll/algorithms.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace zipmpi::proto::coll::two_level {
namespace {

// The parts of the members of this node, one after the other, from the leader.
void hand_out(Schedule& s, Levels& l, std::byte* parts, void* result, std::span<const int64_t> counts) {
    const size_t element = s.operation().element_bytes;
    const auto bytes_of = [&](int64_t count) { return static_cast<size_t>(count) * element; };
    const Block own{static_cast<std::byte*>(result), bytes_of(counts[static_cast<size_t>(l.place())])};
    if (l.place() == 0) s.copy(result, parts, own.bytes);
    if (std::ranges::count(counts, counts[0]) == std::ssize(counts))
        return coll::scatter(s, l.node, parts, result, own.bytes, 0);
    auto* blocks = reinterpret_cast<Block*>(s.scratch(counts.size() * sizeof(Block)));
    if (blocks == nullptr) return;
    size_t offset = 0;
    for (size_t i = 0; i < counts.size(); ++i) {
        blocks[i] = {parts + offset, bytes_of(counts[i])};
        offset += blocks[i].bytes;
    }
    coll::scatterv(s, l.node, {blocks, counts.size()}, own, 0);
}

} // namespace

namespace {

// Counts of all members, node by node.
std::span<const int64_t> in_order_of_nodes(Schedule& s, const Nodes& nodes, std::span<const int64_t> counts) {
    if (nodes.grouped()) return counts;
    auto* sorted = reinterpret_cast<int64_t*>(s.scratch(counts.size_bytes()));
    if (sorted == nullptr) return counts;
    int64_t* next = sorted;
    for (int n = 0; n < nodes.count(); ++n)
        for (int i = 0; i < nodes.size_of(n); ++i) *next++ = counts[static_cast<size_t>(nodes.member(n, i))];
    return {sorted, counts.size()};
}

// A vector with a part for each rank, its parts put node by node.
std::byte* sort_parts(Schedule& s, const Nodes& nodes, std::byte* parts, std::span<const int64_t> by_rank) {
    const Combine& op = s.operation();
    if (nodes.grouped()) return parts;
    std::byte* sorted = s.scratch(op.bytes());
    if (sorted == nullptr) return nullptr;
    std::vector<size_t> begin{0};
    for (const int64_t count : by_rank)
        begin.push_back(begin.back() + static_cast<size_t>(count) * op.element_bytes);
    size_t offset = 0;
    for (int n = 0; n < nodes.count(); ++n)
        for (int i = 0; i < nodes.size_of(n); ++i) {
            const auto rank = static_cast<size_t>(nodes.member(n, i));
            const size_t bytes = begin[rank + 1] - begin[rank];
            s.copy(sorted + offset, parts + begin[rank], bytes);
            offset += bytes;
        }
    return sorted;
}

} // namespace

void reduce_scatter(Schedule& s, Team& t, Levels& l, const void* mine, void* result,
                    std::span<const int64_t> by_rank) {
    const Combine& op = s.operation();
    const std::span<const int64_t> counts = in_order_of_nodes(s, l.nodes, by_rank);
    const auto of_node = [&](int node) {
        return counts.subspan(static_cast<size_t>(l.nodes.first(node)),
                              static_cast<size_t>(l.nodes.size_of(node)));
    };
    std::byte* parts = nullptr;
    std::byte* sum = l.place() == 0 ? s.scratch(op.bytes()) : nullptr;
    coll::reduce(s, l.node, mine, sum, 0);
    s.wait();
    if (l.place() == 0) {
        const auto n = static_cast<size_t>(l.nodes.count());
        auto* sums = reinterpret_cast<int64_t*>(s.scratch(n * sizeof(int64_t)));
        if (sums == nullptr) return;
        for (size_t i = 0; i < n; ++i) {
            const auto part = of_node(static_cast<int>(i));
            sums[i] = std::accumulate(part.begin(), part.end(), int64_t{0});
        }
        parts = s.scratch(static_cast<size_t>(sums[l.my_node]) * op.element_bytes);
        if (parts == nullptr || sum == nullptr) return;
        Team leaders = l.across(t, 0);
        coll::reduce_scatter(s, leaders, sort_parts(s, l.nodes, sum, by_rank), parts, {sums, n});
        s.wait();
    }
    hand_out(s, l, parts, result, of_node(l.my_node));
}

} // namespace zipmpi::proto::coll::two_level
