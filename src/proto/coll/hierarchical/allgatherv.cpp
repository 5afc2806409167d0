// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Allgather of blocks of different sizes: leaders gather the blocks of their nodes, exchange them packed, and
// broadcast all within their nodes. Cost 2 N + A, and two copies if the blocks are not contiguous.
#include "proto/coll/hierarchical/hierarchical.hpp"

#include "proto/coll/algorithms.hpp"

namespace zipmpi::proto::coll::hierarchical {
namespace {

Blocks order_by_node(Schedule& s, const NodePartition& nodes, Blocks all) {
    if (nodes.is_contiguous()) return all;
    auto* blocks = reinterpret_cast<Block*>(s.scratch(all.size() * sizeof(Block)));
    if (blocks == nullptr) return {};
    Block* next = blocks;
    for (int n = 0; n < nodes.count(); ++n)
        for (int i = 0; i < nodes.size_of(n); ++i) *next++ = all[static_cast<size_t>(nodes.member(n, i))];
    return {blocks, all.size()};
}

// All blocks contiguous and sorted by node: the user buffer if it has that order, else scratch memory.
struct PackedBlocks {
    Blocks all;
    std::byte* base = nullptr;
    size_t bytes = 0;
    bool in_place = true;

    PackedBlocks(Schedule& s, Blocks blocks)
        : all(blocks) {
        for (const Block& b : blocks) {
            if (b.bytes == 0) continue;
            if (bytes == 0) base = b.data;
            in_place = in_place && b.data == base + bytes;
            bytes += b.bytes;
        }
        if (!in_place) base = s.scratch(bytes);
    }
    // Copy blocks [from, to) to and from the packed buffer.
    void pack(Schedule& s, size_t from, size_t to) const {
        for_each(from, to, [&](const Block& b, size_t offset) { s.copy(base + offset, b.data, b.bytes); });
    }
    void unpack(Schedule& s, size_t from, size_t to) const {
        for_each(from, to, [&](const Block& b, size_t offset) { s.copy(b.data, base + offset, b.bytes); });
    }

  private:
    template <class Copy>
    void for_each(size_t from, size_t to, const Copy& copy) const {
        size_t offset = 0;
        for (size_t r = 0; r < to && !in_place; ++r) {
            if (r >= from) copy(all[r], offset);
            offset += all[r].bytes;
        }
    }
};

Blocks blocks_by_node(Schedule& s, const Hierarchy& l, const PackedBlocks& packed) {
    const auto n = static_cast<size_t>(l.nodes.count());
    auto* blocks = reinterpret_cast<Block*>(s.scratch(n * sizeof(Block)));
    if (blocks == nullptr) return {};
    size_t offset = 0;
    for (int i = 0; i < l.nodes.count(); ++i) {
        blocks[i] = {packed.base + offset, 0};
        for (int r = l.nodes.first_rank(i); r < l.nodes.first_rank(i + 1); ++r)
            blocks[i].bytes += packed.all[static_cast<size_t>(r)].bytes;
        offset += blocks[i].bytes;
    }
    return {blocks, n};
}

} // namespace

void allgatherv(Collective& c, Team& t, Hierarchy& l, Blocks all) {
    Schedule& s = c.schedule();
    const PackedBlocks packed(s, order_by_node(s, l.nodes, all));
    if (packed.bytes == 0 || packed.base == nullptr) return;
    const auto first = static_cast<size_t>(l.nodes.first_rank(l.my_node));
    const auto m = static_cast<size_t>(l.node.size);
    coll::gatherv(c, l.node, all[static_cast<size_t>(t.rank)], packed.all.subspan(first, m), 0);
    s.wait();
    if (l.local_rank() == 0) {
        packed.pack(s, first, first + m);
        const Blocks nodes = blocks_by_node(s, l, packed);
        if (nodes.empty()) return;
        Team leaders = l.cross_node_team(t, 0);
        coll::allgatherv(c, leaders, nodes);
        s.wait();
    }
    coll::broadcast(c, l.node, packed.base, packed.bytes, 0);
    s.wait();
    packed.unpack(s, 0, all.size());
}

} // namespace zipmpi::proto::coll::hierarchical
