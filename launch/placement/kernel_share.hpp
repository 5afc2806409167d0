// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Nodes of a job on one machine, such as containers: divides its cores among them. Pure.
#pragma once

#include "launch/placement/hardware_units.hpp"

namespace zipmpi::launch {

struct NodeKernel {
    uint32_t node = 0;
    uint32_t ranks = 0;
    std::string boot_id;
    std::vector<uint32_t> cpus; // that it may use
};

struct KernelShare { // the node's ranks start at index `first` of `all` ranks that share the cores
    uint32_t node = 0, first = 0, all = 0;
    bool operator==(const KernelShare&) const = default;
};

// Covers only nodes that share their CPUs with another node. Nodes with different CPU sets count as different
// machines.
std::vector<KernelShare> kernel_shares(const std::vector<NodeKernel>& nodes);

} // namespace zipmpi::launch
