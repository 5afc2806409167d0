// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The matrix of a run as a heat map, and what its messages cost where. Pure.
#pragma once

#include "mapping/matrix.hpp"

#include <string>
#include <vector>

namespace zipmpi::tool {

struct NamedCost {
    std::string name;
    double cost = 0;
};

// Ranks from top to bottom send, those from left to right receive. Many ranks share a cell.
// In lines of at most so many columns.
std::string heat_text(const mapping::Matrix& matrix, size_t columns);
std::string heat_svg(const mapping::Matrix& matrix, const std::vector<NamedCost>& costs,
                     const std::string& title);
std::string costs_text(const std::vector<NamedCost>& costs); // the last one is the best found

} // namespace zipmpi::tool
