// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Gather and scatter: leaders gather or scatter the blocks of their node and exchange one message per node
// with the root. Cost N + A; the root handles m + n - 2 messages instead of p - 1.
#include "proto/coll/hierarchical/hierarchical.hpp"

#include "proto/coll/algorithms.hpp"

namespace zipmpi::proto::coll::hierarchical {
namespace {

// The range of each node in a buffer with one block per rank.
Blocks blocks_by_node(Schedule& s, const Hierarchy& l, const void* all, size_t block) {
    const auto n = static_cast<size_t>(l.nodes.count());
    auto* blocks = reinterpret_cast<Block*>(s.scratch(n * sizeof(Block)));
    if (blocks == nullptr) return {};
    for (int i = 0; i < l.nodes.count(); ++i)
        blocks[i] = {at(const_cast<void*>(all), static_cast<size_t>(l.nodes.first_rank(i)) * block),
                     static_cast<size_t>(l.nodes.size_of(i)) * block};
    return {blocks, n};
}

struct NodeBlock {
    size_t bytes;
    size_t own_offset; // of this member's block
    size_t offset_in_all;
    NodeBlock(const Hierarchy& l, size_t block)
        : bytes(static_cast<size_t>(l.node.size) * block)
        , own_offset(static_cast<size_t>(l.local_rank()) * block)
        , offset_in_all(static_cast<size_t>(l.nodes.first_rank(l.my_node)) * block) {}
};

} // namespace

void gather(Collective& c, Team& t, Hierarchy& l, const void* input, void* all, size_t block, int root) {
    Schedule& s = c.schedule();
    const int leader = leader_for_root(l, root);
    const NodeBlock node_block(l, block);
    std::byte* blocks = nullptr;
    if (l.local_rank() == leader && t.rank != root) {
        blocks = s.scratch(node_block.bytes);
        if (blocks == nullptr) return;
        s.copy(blocks + node_block.own_offset, input, block);
    } else if (t.rank == root) {
        blocks = at(all, node_block.offset_in_all);
    }
    coll::gather(c, l.node, input, blocks, block, leader);
    s.wait();
    if (l.local_rank() != leader) return;
    Team leaders = l.cross_node_team(t, 0, root);
    const int top = l.nodes.node_of(root);
    if (l.nodes.is_uniform()) return coll::gather(c, leaders, blocks, all, node_block.bytes, top);
    coll::gatherv(c, leaders, {blocks, node_block.bytes},
                  t.rank == root ? blocks_by_node(s, l, all, block) : Blocks{}, top);
}

void scatter(Collective& c, Team& t, Hierarchy& l, const void* all, void* output, size_t block, int root) {
    Schedule& s = c.schedule();
    const int leader = leader_for_root(l, root);
    const NodeBlock node_block(l, block);
    std::byte* blocks = nullptr;
    if (l.local_rank() == leader) {
        blocks = t.rank == root ? at(const_cast<void*>(all), node_block.offset_in_all)
                                : s.scratch(node_block.bytes);
        if (blocks == nullptr) return;
        Team leaders = l.cross_node_team(t, 0, root);
        const int top = l.nodes.node_of(root);
        if (l.nodes.is_uniform())
            coll::scatter(c, leaders, all, blocks, node_block.bytes, top);
        else
            coll::scatterv(c, leaders, t.rank == root ? blocks_by_node(s, l, all, block) : Blocks{},
                           {blocks, node_block.bytes}, top);
        s.wait();
        if (t.rank != root) s.copy(output, blocks + node_block.own_offset, block);
    }
    coll::scatter(c, l.node, blocks, output, block, leader);
}

void allgather(Collective& c, Team& t, Hierarchy& l, const void* input, void* all, size_t block) {
    Schedule& s = c.schedule();
    const NodeBlock node_block(l, block);
    std::byte* blocks = at(all, node_block.offset_in_all);
    if (l.local_rank() == 0) s.copy(blocks, input, block);
    coll::gather(c, l.node, input, blocks, block, 0);
    s.wait();
    if (l.local_rank() == 0) {
        Team leaders = l.cross_node_team(t, 0);
        if (l.nodes.is_uniform())
            coll::allgather(c, leaders, blocks, all, node_block.bytes);
        else if (const Blocks nodes = blocks_by_node(s, l, all, block); !nodes.empty())
            coll::allgatherv(c, leaders, nodes);
        s.wait();
    }
    coll::broadcast(c, l.node, all, static_cast<size_t>(t.size) * block, 0);
}

} // namespace zipmpi::proto::coll::hierarchical
