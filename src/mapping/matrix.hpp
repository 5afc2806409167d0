// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Communication matrix of a run in the format written by the library (docs/guide/matrix.md). Pure.
#pragma once

#include "mapping/graph.hpp"

#include <string>
#include <string_view>

namespace zipmpi::mapping {

struct Traffic {
    uint32_t from = 0, to = 0;
    uint64_t messages = 0, bytes = 0;           // point-to-point
    uint64_t coll_messages = 0, coll_bytes = 0; // of collective operations
};

struct Matrix {
    uint32_t ranks = 0;
    std::vector<Traffic> pairs;
};

// Returns false with the line and the reason in `wrong`.
bool parse_matrix(std::string_view text, Matrix& out, std::string& wrong);
std::string print(const Matrix& matrix);

// Weight of the messages of a pair: each message counts like 4 KiB of data, because distance affects both
// latency and bandwidth.
double weight(const Traffic& t);
Graph graph_of(const Matrix& matrix);

} // namespace zipmpi::mapping
