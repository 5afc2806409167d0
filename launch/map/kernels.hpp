// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Nodes of a job that are one machine, as containers are: which part of its cores each one gets. Pure.
#pragma once

#include "launch/map/units.hpp"

namespace zipmpi::launch {

struct NodeKernel {
    uint32_t node = 0;
    uint32_t ranks = 0;
    std::string boot_id;
    std::vector<uint32_t> cpus; // that it may use
};

struct NodePart { // the ranks of a node are those from `first` on of `all` that share the cores
    uint32_t node = 0, first = 0, all = 0;
    bool operator==(const NodePart&) const = default;
};

// Only nodes that share their CPUs with another one. Nodes with different sets of CPUs count as different
// machines.
std::vector<NodePart> parts_of(const std::vector<NodeKernel>& nodes);

} // namespace zipmpi::launch
