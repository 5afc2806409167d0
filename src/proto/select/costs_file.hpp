// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Measured costs in a file: one line `class.constant = number` each ("shared_l3.kernel.fresh.start_ns =
// 905"), which is TOML. Written by `zipmpi tune`, read by the first rank of a node that needs them. A line
// `format = number` comes first; a file without it is of format 1, which had no costs of joint copies.
#pragma once

#include "proto/select/cost.hpp"

#include <string>
#include <vector>

namespace zipmpi::proto {

inline constexpr uint64_t costs_format = 2;

struct NodeCosts {
    PairCosts pair[topo::pair_classes]; // starts with what is built in
    bool measured[topo::pair_classes] = {};
    std::string file;                // what was read; empty: all is built in
    uint64_t format = costs_format;  // of the file; what an older one does not have is built in
    std::vector<std::string> faults; // lines that are not used, and why

    NodeCosts();
};

// Where a file of this user or of the installation is looked for, in this order.
std::vector<std::string> costs_file_places();

// The file that the knob tune.file names, or the first that exists. False: the named file cannot be read
// (errno).
bool load_costs(NodeCosts& costs);
bool load_costs_from(const std::string& path, NodeCosts& costs);

} // namespace zipmpi::proto
