// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The communication matrix of the job, collected in MPI_Finalize. File format: docs/guide/matrix.md.
#pragma once

#include "base/size_histogram.hpp"
#include "segment/traffic.hpp"

#include <array>
#include <string>
#include <vector>

namespace zipmpi::core {
struct Runtime;

namespace tool {

// The row of one rank. May be missing if the rank has failed.
struct MatrixRow {
    bool present = false;
    std::vector<segment::PeerTotals> sent;
};

// Messages of all ranks by class of base/size_histogram.hpp.
using SizeCounts = std::array<uint64_t, size_histogram::classes>;

// Content of the file, rows by rank. Sorts them.
std::string matrix_text(std::vector<MatrixRow>& rows, const SizeCounts& sizes);

// If the parameter matrix.file is set: all ranks send their rows to rank 0, which writes the file. Collective
// over MPI_COMM_WORLD; failures are reported and are not fatal.
void write_matrix(Runtime& runtime);

} // namespace tool
} // namespace zipmpi::core
