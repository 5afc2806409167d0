// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Allgather of blocks of different sizes: leaders collect those of their nodes, exchange them side by side,
// and hand all to their nodes. 2 N + A, and two copies where the blocks do not lie side by side.
#include "proto/coll/two_level/two_level.hpp"

#include "proto/coll/algorithms.hpp"

namespace zipmpi::proto::coll::two_level {
namespace {

Blocks in_order_of_nodes(Schedule& s, const Nodes& nodes, Blocks all) {
    if (nodes.grouped()) return all;
    auto* blocks = reinterpret_cast<Block*>(s.scratch(all.size() * sizeof(Block)));
    if (blocks == nullptr) return {};
    Block* next = blocks;
    for (int n = 0; n < nodes.count(); ++n)
        for (int i = 0; i < nodes.size_of(n); ++i) *next++ = all[static_cast<size_t>(nodes.member(n, i))];
    return {blocks, all.size()};
}

// The blocks one after the other, node by node, where they are or in memory of the schedule.
struct Line {
    Blocks all;
    std::byte* base = nullptr;
    size_t bytes = 0;
    bool in_place = true;

    Line(Schedule& s, Blocks blocks)
        : all(blocks) {
        for (const Block& b : blocks) {
            if (b.bytes == 0) continue;
            if (bytes == 0) base = b.data;
            in_place = in_place && b.data == base + bytes;
            bytes += b.bytes;
        }
        if (!in_place) base = s.scratch(bytes);
    }
    // Between the line and the places of blocks [from, to).
    void copy(Schedule& s, size_t from, size_t to, bool to_line) const {
        size_t offset = 0;
        for (size_t r = 0; r < to && !in_place; ++r) {
            if (r >= from && to_line) s.copy(base + offset, all[r].data, all[r].bytes);
            if (r >= from && !to_line) s.copy(all[r].data, base + offset, all[r].bytes);
            offset += all[r].bytes;
        }
    }
};

Blocks by_node(Schedule& s, const Levels& l, const Line& line) {
    const auto n = static_cast<size_t>(l.nodes.count());
    auto* blocks = reinterpret_cast<Block*>(s.scratch(n * sizeof(Block)));
    if (blocks == nullptr) return {};
    size_t offset = 0;
    for (int i = 0; i < l.nodes.count(); ++i) {
        blocks[i] = {line.base + offset, 0};
        for (int r = l.nodes.first(i); r < l.nodes.first(i + 1); ++r)
            blocks[i].bytes += line.all[static_cast<size_t>(r)].bytes;
        offset += blocks[i].bytes;
    }
    return {blocks, n};
}

} // namespace

void allgatherv(Schedule& s, Team& t, Levels& l, Blocks all) {
    const Line line(s, in_order_of_nodes(s, l.nodes, all));
    if (line.bytes == 0 || line.base == nullptr) return;
    const auto first = static_cast<size_t>(l.nodes.first(l.my_node));
    const auto m = static_cast<size_t>(l.node.size);
    coll::gatherv(s, l.node, all[static_cast<size_t>(t.rank)], line.all.subspan(first, m), 0);
    s.wait();
    if (l.place() == 0) {
        line.copy(s, first, first + m, true);
        const Blocks nodes = by_node(s, l, line);
        if (nodes.empty()) return;
        Team leaders = l.across(t, 0);
        coll::allgatherv(s, leaders, nodes);
        s.wait();
    }
    coll::broadcast(s, l.node, line.base, line.bytes, 0);
    s.wait();
    line.copy(s, 0, all.size(), false);
}

} // namespace zipmpi::proto::coll::two_level
