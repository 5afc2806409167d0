// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Heat map of a communication matrix, and the costs of placements. Pure.
#pragma once

#include "mapping/matrix.hpp"

#include <string>
#include <vector>

namespace zipmpi::tool {

struct NamedCost {
    std::string name;
    double cost = 0;
};

// Rows send, columns receive; several ranks may share a cell. At most `columns` characters per line.
std::string heat_map_text(const mapping::Matrix& matrix, size_t columns);
std::string heat_map_svg(const mapping::Matrix& matrix, const std::vector<NamedCost>& costs,
                         const std::string& title);
std::string costs_text(const std::vector<NamedCost>& costs); // the last one is the best found

} // namespace zipmpi::tool
