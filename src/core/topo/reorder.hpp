// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Where reordering happens: the one place that decides which process gets which rank of a topology.
#pragma once

#include "core/comm/comm.hpp"

#include <vector>

namespace zipmpi::core {

// One edge of the graph of those who talk: ranks of the new topology, with how much.
struct Edge {
    int from;
    int to;
    int weight;
};

// order[r]: the rank on `comm` of the process that becomes rank r of a topology with these edges. All
// processes compute the same from the same edges. Today every process keeps its rank.
std::vector<int> place_on(const Comm& comm, int size, const std::vector<Edge>& edges);

} // namespace zipmpi::core
