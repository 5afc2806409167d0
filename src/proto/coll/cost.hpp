// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Input of the cost functions of collective algorithms: shape of the collective and constants of the machine.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace zipmpi::proto::coll {

struct CollShape {
    int ranks = 1;
    size_t bytes = 0; // of one rank's contribution, or of the result on all ranks
};

// Times in nanoseconds.
struct CostModel {
    double message = 0; // per empty message
    double byte = 0;    // per byte of a message
    double combine = 0; // per byte of a reduction
};

// From the parameters coll.cost_*: within a node, and between nodes.
CostModel node_cost_model();
CostModel network_cost_model();
// Concurrent senders per node that saturate the network.
double network_senders();

inline double rounds_of(int ranks) {
    return ranks <= 1 ? 0 : static_cast<double>(std::bit_width(static_cast<unsigned>(ranks - 1)));
}

} // namespace zipmpi::proto::coll
