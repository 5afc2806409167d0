// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Where the bytes of a datatype lie, as a small tree: runs of contiguous bytes, loops, lists of runs, and
// sequences of other nodes. Nodes are never changed and exist once: two layouts are equal if and only if they
// are the same node. The functions below bring what they make into one normal form: adjacent runs are one
// run, contiguous dimensions one loop, regular lists are loops.
//
// Threads: making and dropping nodes takes a lock of its own; everything else only reads.
#pragma once

#include "layout/record.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace zipmpi::layout {

struct Node;
struct Shuffle;
using NodePtr = std::shared_ptr<const Node>;

struct Node {
    enum class Kind : uint8_t { run, loop, list, sequence };

    Kind kind = Kind::run;
    int64_t size = 0; // bytes of data; more than 0
    int64_t low = 0;  // where the data begin and end, from the place of the first byte in packed order
    int64_t high = 0;
    int64_t runs = 1; // how many contiguous pieces

    // loop: count times the child
    int64_t count = 0;
    int64_t stride = 0;
    NodePtr child;

    // list: runs at places[i]; sequence: parts[i] at places[i]. The first place is 0.
    std::vector<int64_t> places;
    std::vector<int64_t> starts; // bytes of data before i, and in all; empty for a list of equal runs
    std::vector<NodePtr> parts;
    int64_t length = 0; // of each run of a list; 0: they differ
    // list: the same in half the memory, for copying; empty if the numbers are too large
    struct Run {
        int32_t place;
        int32_t length;
    };
    std::vector<Run> short_runs;
    // short list: its runs in groups that are copied together; without a chunk: one run that is too long
    std::vector<Record> records;
    std::shared_ptr<const Shuffle>
        shuffle; // short list within one register; null: none, or not possible here
};

// Lists and sequences of up to this many entries are structures: of many elements the same entries are copied
// together.
inline constexpr size_t structure_max = 16;

// A node whose first byte in packed order is `at` bytes from where the datatype is put. Null: no data.
struct Placed {
    int64_t at = 0;
    NodePtr node;
};

Placed run(int64_t bytes);
Placed repeat(const Placed& what, int64_t count, int64_t stride);
// One after the other in packed order, wherever they lie.
Placed sequence(const std::vector<Placed>& parts);

// For tests: how many different nodes exist.
size_t nodes_alive();

} // namespace zipmpi::layout
