// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// `zipmpi map`: shows the placement of ranks and their traffic.
#pragma once

#include <cstdint>
#include <string>

namespace zipmpi::tool {

struct MapOptions {
    uint32_t ranks = 0; // 0: number of cores, or size of the matrix
    std::string map_by = "spread";
    std::string host;    // as --host of mpiexec; all hosts are assumed to equal this one
    std::string machine; // synthetic hwloc description of another machine
    std::string matrix;  // matrix file of a run
    std::string pattern; // name of a common communication pattern
    std::string write;   // file for the matrix of the pattern
    std::string svg;     // file for the placement
    std::string heatmap; // file for the heat map
    bool json = false;   // print JSON instead of text
};

int run_map(const MapOptions& options);

} // namespace zipmpi::tool
