// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Gather and scatter: leaders collect what their node sends, or hand out what it gets, and exchange that with
// the root in one message per node. N + A; at the root p - 1 messages become m + n - 2.
#include "proto/coll/two_level/two_level.hpp"

#include "proto/coll/algorithms.hpp"

namespace zipmpi::proto::coll::two_level {
namespace {

// What each node has of a buffer with one block for each rank.
Blocks by_node(Schedule& s, const Levels& l, const void* all, size_t block) {
    const auto n = static_cast<size_t>(l.nodes.count());
    auto* blocks = reinterpret_cast<Block*>(s.scratch(n * sizeof(Block)));
    if (blocks == nullptr) return {};
    for (int i = 0; i < l.nodes.count(); ++i)
        blocks[i] = {at(const_cast<void*>(all), static_cast<size_t>(l.nodes.first(i)) * block),
                     static_cast<size_t>(l.nodes.size_of(i)) * block};
    return {blocks, n};
}

struct Bundle {
    size_t bytes;
    size_t own; // where this member's block is in it
    size_t in_all;
    Bundle(const Levels& l, size_t block)
        : bytes(static_cast<size_t>(l.node.size) * block)
        , own(static_cast<size_t>(l.place()) * block)
        , in_all(static_cast<size_t>(l.nodes.first(l.my_node)) * block) {}
};

} // namespace

void gather(Schedule& s, Team& t, Levels& l, const void* mine, void* all, size_t block, int root) {
    const int leader = leader_with(l, root);
    const Bundle bundle(l, block);
    std::byte* blocks = nullptr;
    if (l.place() == leader && t.rank != root) {
        blocks = s.scratch(bundle.bytes);
        if (blocks == nullptr) return;
        s.copy(blocks + bundle.own, mine, block);
    } else if (t.rank == root) {
        blocks = at(all, bundle.in_all);
    }
    coll::gather(s, l.node, mine, blocks, block, leader);
    s.wait();
    if (l.place() != leader) return;
    Team leaders = l.across(t, 0, root);
    const int top = l.nodes.node_of(root);
    if (l.nodes.same_size()) return coll::gather(s, leaders, blocks, all, bundle.bytes, top);
    coll::gatherv(s, leaders, {blocks, bundle.bytes}, t.rank == root ? by_node(s, l, all, block) : Blocks{},
                  top);
}

void scatter(Schedule& s, Team& t, Levels& l, const void* all, void* mine, size_t block, int root) {
    const int leader = leader_with(l, root);
    const Bundle bundle(l, block);
    std::byte* blocks = nullptr;
    if (l.place() == leader) {
        blocks = t.rank == root ? at(const_cast<void*>(all), bundle.in_all) : s.scratch(bundle.bytes);
        if (blocks == nullptr) return;
        Team leaders = l.across(t, 0, root);
        const int top = l.nodes.node_of(root);
        if (l.nodes.same_size())
            coll::scatter(s, leaders, all, blocks, bundle.bytes, top);
        else
            coll::scatterv(s, leaders, t.rank == root ? by_node(s, l, all, block) : Blocks{},
                           {blocks, bundle.bytes}, top);
        s.wait();
        if (t.rank != root) s.copy(mine, blocks + bundle.own, block);
    }
    coll::scatter(s, l.node, blocks, mine, block, leader);
}

void allgather(Schedule& s, Team& t, Levels& l, const void* mine, void* all, size_t block) {
    const Bundle bundle(l, block);
    std::byte* blocks = at(all, bundle.in_all);
    if (l.place() == 0) s.copy(blocks, mine, block);
    coll::gather(s, l.node, mine, blocks, block, 0);
    s.wait();
    if (l.place() == 0) {
        Team leaders = l.across(t, 0);
        if (l.nodes.same_size())
            coll::allgather(s, leaders, blocks, all, bundle.bytes);
        else if (const Blocks nodes = by_node(s, l, all, block); !nodes.empty())
            coll::allgatherv(s, leaders, nodes);
        s.wait();
    }
    coll::broadcast(s, l.node, all, static_cast<size_t>(t.size) * block, 0);
}

} // namespace zipmpi::proto::coll::two_level
