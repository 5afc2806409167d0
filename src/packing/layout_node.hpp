// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// LayoutNode: memory layout of a datatype as a tree of runs of contiguous bytes, loops, lists of runs, and
// sequences of nodes. Nodes are immutable and unique: two layouts are equal if and only if they are the same
// node. The functions below produce a normal form: adjacent runs are merged, contiguous dimensions are one
// loop, regular lists are loops.
//
// Threads: any. Creating and releasing nodes takes an internal lock; other functions only read.
#pragma once

#include "packing/struct_copy.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace zipmpi::packing {

struct LayoutNode;
struct ByteShuffle;
using NodePtr = std::shared_ptr<const LayoutNode>;

struct LayoutNode {
    enum class Kind : uint8_t { run, loop, list, sequence };

    Kind kind = Kind::run;
    int64_t size = 0; // bytes of data; more than 0
    int64_t low = 0;  // bounds of the data, relative to the first byte in packed order
    int64_t high = 0;
    int64_t runs = 1; // number of contiguous segments

    // loop: `count` times the child
    int64_t count = 0;
    int64_t stride = 0;
    NodePtr child;

    // list: runs at displacements[i]; sequence: children[i] at displacements[i]; displacements[0] is 0
    std::vector<int64_t> displacements;
    std::vector<int64_t>
        starts; // bytes of data before entry i, then the total; empty for a list of equal runs
    std::vector<NodePtr> children;
    int64_t length = 0; // of each run of a list; 0: they differ
    // list: compact copy of its runs, for copying; empty if the numbers exceed 32 bits
    struct Run {
        int32_t displacement;
        int32_t length;
    };
    std::vector<Run> short_runs;
    // short list: its runs in groups that are copied together; a group without chunks is one long run
    std::vector<StructCopy> struct_copies;
    // short list that fits one register; null: none, or not supported by the CPU
    std::shared_ptr<const ByteShuffle> shuffle;
};

// Lists and sequences of up to this many entries are structures: one entry of many elements is copied before
// the next entry.
inline constexpr size_t structure_max = 16;

// Node whose first packed byte is at displacement `at` from the address of the datatype. Null: no data.
struct PlacedNode {
    int64_t at = 0;
    NodePtr node;
};

PlacedNode run(int64_t bytes);
PlacedNode repeat(const PlacedNode& what, int64_t count, int64_t stride);
// Concatenation in packed order, at any displacements.
PlacedNode sequence(const std::vector<PlacedNode>& children);

// For tests: number of existing nodes.
size_t live_node_count();

} // namespace zipmpi::packing
