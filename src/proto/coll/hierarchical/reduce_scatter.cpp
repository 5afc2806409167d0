// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reduce-scatter: reduction within the nodes to their leaders, reduce-scatter between the leaders, scatter
// within the nodes. Cost 2 N + A.
#include "proto/coll/hierarchical/hierarchical.hpp"

#include "proto/coll/algorithms.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace zipmpi::proto::coll::hierarchical {
namespace {

// Scatters the blocks of this node from its leader.
void scatter_result(Collective& c, Hierarchy& l, std::byte* node_result, void* result,
                    std::span<const int64_t> counts) {
    Schedule& s = c.schedule();
    const size_t element = s.op().element_bytes;
    const auto bytes_of = [&](int64_t count) { return static_cast<size_t>(count) * element; };
    const Block own{static_cast<std::byte*>(result), bytes_of(counts[static_cast<size_t>(l.local_rank())])};
    if (l.local_rank() == 0) s.copy(result, node_result, own.bytes);
    if (std::ranges::count(counts, counts[0]) == std::ssize(counts))
        return coll::scatter(c, l.node, node_result, result, own.bytes, 0);
    auto* blocks = reinterpret_cast<Block*>(s.scratch(counts.size() * sizeof(Block)));
    if (blocks == nullptr) return;
    size_t offset = 0;
    for (size_t i = 0; i < counts.size(); ++i) {
        blocks[i] = {node_result + offset, bytes_of(counts[i])};
        offset += blocks[i].bytes;
    }
    coll::scatterv(c, l.node, {blocks, counts.size()}, own, 0);
}

} // namespace

namespace {

// Counts of all members, sorted by node.
std::span<const int64_t> order_by_node(Schedule& s, const NodePartition& nodes,
                                       std::span<const int64_t> counts) {
    if (nodes.is_contiguous()) return counts;
    auto* sorted = reinterpret_cast<int64_t*>(s.scratch(counts.size_bytes()));
    if (sorted == nullptr) return counts;
    int64_t* next = sorted;
    for (int n = 0; n < nodes.count(); ++n)
        for (int i = 0; i < nodes.size_of(n); ++i) *next++ = counts[static_cast<size_t>(nodes.member(n, i))];
    return {sorted, counts.size()};
}

// Sorts a vector with one block per rank by node.
std::byte* sort_blocks(Schedule& s, const NodePartition& nodes, std::byte* data,
                       std::span<const int64_t> by_rank) {
    const ReduceOp& op = s.op();
    if (nodes.is_contiguous()) return data;
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
            s.copy(sorted + offset, data + begin[rank], bytes);
            offset += bytes;
        }
    return sorted;
}

} // namespace

void reduce_scatter(Collective& c, Team& t, Hierarchy& l, const void* input, void* result,
                    std::span<const int64_t> by_rank) {
    Schedule& s = c.schedule();
    const ReduceOp& op = s.op();
    const std::span<const int64_t> counts = order_by_node(s, l.nodes, by_rank);
    const auto of_node = [&](int node) {
        return counts.subspan(static_cast<size_t>(l.nodes.first_rank(node)),
                              static_cast<size_t>(l.nodes.size_of(node)));
    };
    std::byte* node_result = nullptr;
    std::byte* sum = l.local_rank() == 0 ? s.scratch(op.bytes()) : nullptr;
    coll::reduce(c, l.node, input, sum, 0);
    s.wait();
    if (l.local_rank() == 0) {
        const auto n = static_cast<size_t>(l.nodes.count());
        auto* sums = reinterpret_cast<int64_t*>(s.scratch(n * sizeof(int64_t)));
        if (sums == nullptr) return;
        for (size_t i = 0; i < n; ++i) {
            const auto node_counts = of_node(static_cast<int>(i));
            sums[i] = std::accumulate(node_counts.begin(), node_counts.end(), int64_t{0});
        }
        node_result = s.scratch(static_cast<size_t>(sums[l.my_node]) * op.element_bytes);
        if (node_result == nullptr || sum == nullptr) return;
        Team leaders = l.cross_node_team(t, 0);
        coll::reduce_scatter(c, leaders, sort_blocks(s, l.nodes, sum, by_rank), node_result, {sums, n});
        s.wait();
    }
    scatter_result(c, l, node_result, result, of_node(l.my_node));
}

} // namespace zipmpi::proto::coll::hierarchical
