// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reduce-scatter: within the nodes to their leaders, each of which gets the parts of its node from the
// others and hands them out. 2 N + A.
#include "proto/coll/two_level/two_level.hpp"

#include "proto/coll/algorithms.hpp"

#include <algorithm>
#include <numeric>

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

void reduce_scatter(Schedule& s, Team& t, Levels& l, const void* mine, void* result,
                    std::span<const int64_t> counts) {
    const Combine& op = s.operation();
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
        coll::reduce_scatter(s, leaders, sum, parts, {sums, n});
        s.wait();
    }
    hand_out(s, l, parts, result, of_node(l.my_node));
}

} // namespace zipmpi::proto::coll::two_level
