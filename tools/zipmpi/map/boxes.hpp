// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A tree of boxes - nodes, sockets, caches, cores - with ranks in the innermost, as text and as SVG. Pure.
#pragma once

#include "launch/map/placement.hpp"

#include "topo/place.hpp"

#include <string>
#include <vector>

namespace zipmpi::tool {

struct Box {
    enum class Kind { node, socket, memory, l3, l2, core } kind = Kind::node;
    std::string name;
    std::vector<Box> inside;
    std::vector<uint32_t> ranks; // of a core: those that may use it; of a node: those that are not bound
    int x = 0, y = 0, width = 0, height = 0;
};

struct NodeView {
    std::string name;
    std::vector<uint32_t> ranks;
    std::vector<launch::CpuList> placed; // of each rank; empty: not bound
};

// Levels that say nothing - a cache of one core, a memory of one socket - are left out.
Box box_of(const NodeView& node, const topo::Machine& machine, const std::vector<launch::CpuList>& cores);

std::string text_of(const std::vector<Box>& nodes);
std::string svg_of(std::vector<Box> nodes, const std::string& title);

} // namespace zipmpi::tool
