// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// `zipmpi map`: where ranks will sit, and who talked to whom.
#pragma once

#include <cstdint>
#include <string>

namespace zipmpi::tool {

struct MapOptions {
    uint32_t ranks = 0; // 0: as many as cores, or as the matrix is of
    std::string map_by = "spread";
    std::string host;    // as --host of mpiexec; every host is taken to be like this one
    std::string machine; // hwloc's description of another machine than this one
    std::string matrix;  // file of a run
    std::string pattern; // a matrix of a program that many know, instead
    std::string write;   // write that matrix to this file
    std::string svg;     // picture of the placement
    std::string heat;    // picture of the matrix
};

int run_map(const MapOptions& options);

} // namespace zipmpi::tool
