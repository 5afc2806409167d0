// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Tree of boxes (nodes, sockets, caches, cores) with the ranks in the innermost ones, as text and as SVG.
// Pure.
#pragma once

#include "launch/placement/placement.hpp"

#include "hwtopo/machine.hpp"

#include <string>
#include <vector>

namespace zipmpi::tool {

struct Box {
    enum class Kind { node, socket, memory, l3, l2, core } kind = Kind::node;
    std::string name;
    std::vector<Box> children;
    std::vector<uint32_t> ranks; // of a core: ranks that may use it; of a node: unbound ranks
    int x = 0, y = 0, width = 0, height = 0;
};

struct NodeView {
    std::string name;
    std::vector<uint32_t> ranks;
    std::vector<launch::CpuList> placed; // of each rank; empty: not bound
};

// Trivial levels (a cache of one core, a NUMA domain of one socket) are omitted.
Box box_of(const NodeView& node, const hwtopo::Machine& machine, const std::vector<launch::CpuList>& cores);

std::string text_of(const std::vector<Box>& nodes);
std::string svg_of(std::vector<Box> nodes, const std::string& title);

} // namespace zipmpi::tool
