// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Cost file: constants measured by `zipmpi tune`, one line `class.constant = number` each
// ("shared_l3.cma.fresh.start_ns = 905"), in TOML. Read by the first rank of a node that needs them. The
// first line is `format = 3`; constants in files of other formats are ignored.
#pragma once

#include "proto/select/cost.hpp"

#include <string>
#include <vector>

namespace zipmpi::proto {

inline constexpr uint64_t costs_format = 3;

struct NodeCosts {
    PairCosts pair[hwtopo::pair_classes]; // initialized with the built-in costs
    bool measured[hwtopo::pair_classes] = {};
    std::string file;                // path of the file read; empty: built-in costs only
    uint64_t format = costs_format;  // of the file; 1 if it has no format line
    std::vector<std::string> faults; // ignored lines, with the reason

    NodeCosts();
};

// Search path: the file of this user and host, then that of the installation.
std::vector<std::string> costs_file_paths();

// Loads the file named by the parameter tune.file, or the first file of the search path that exists. Returns
// false if the file cannot be read (errno).
bool load_costs(NodeCosts& costs);
bool load_costs_from(const std::string& path, NodeCosts& costs);

} // namespace zipmpi::proto
