// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/tree/child_ranges.hpp"

#include <algorithm>

namespace zipmpi::launch {
namespace {

// Size of the first of `parts` almost equal ranges.
uint32_t first_part_size(uint32_t nodes, uint32_t parts) { return (nodes + parts - 1) / parts; }

// End of the range of the child that is the first of these nodes.
uint32_t child_range_end(const LaunchTree& plan, NodeRange nodes, uint32_t parts) {
    if (plan.parents.empty()) return nodes.node + first_part_size(nodes.end - nodes.node, parts);
    uint32_t end = nodes.node + 1;
    while (end < nodes.end && plan.parents[end] != plan.parents[nodes.node]) ++end;
    return end;
}

} // namespace

std::vector<NodeRange> child_ranges(const LaunchTree& plan, NodeRange nodes) {
    std::vector<NodeRange> ranges;
    uint32_t parts = std::min(plan.fanout, nodes.end - nodes.node);
    while (nodes.node < nodes.end) {
        ranges.push_back({nodes.node, child_range_end(plan, nodes, parts)});
        nodes.node = ranges.back().end;
        if (parts > 1) --parts;
    }
    return ranges;
}

} // namespace zipmpi::launch
