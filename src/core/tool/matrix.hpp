// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The communication matrix of the job, collected when it ends. The file is described in docs/guide/matrix.md.
#pragma once

#include "boot/traffic.hpp"

#include <string>
#include <vector>

namespace zipmpi::core {
struct Engine;

namespace tool {

// One rank's part. It may be missing if the rank is gone.
struct MatrixRow {
    bool there = false;
    std::vector<boot::Sent> sent;
};

// The file, rows by rank. Sorts them.
std::string matrix_text(std::vector<MatrixRow>& rows);

// If the knob matrix.file is set: all ranks send their rows to rank 0, which writes the file. Collective over
// MPI_COMM_WORLD; what cannot be done is reported and ends nothing.
void write_matrix(Engine& engine);

} // namespace tool
} // namespace zipmpi::core
