// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What an algorithm is told about a collective to say its cost, and the constants of the machine.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace zipmpi::proto::coll {

struct Shape {
    int ranks = 1;
    size_t bytes = 0; // of one rank's contribution, or of what all get
};

// All in nanoseconds.
struct Constants {
    double message = 0; // one message of no bytes
    double byte = 0;    // one byte more in it
    double combine = 0; // one byte of a reduction
};

// From the knobs coll.*: within a node, and between nodes.
Constants node_constants();
Constants network_constants();
// Members of a node that send at the same time faster than one of them does: what the network takes.
double network_streams();

inline double rounds_of(int ranks) {
    return ranks <= 1 ? 0 : static_cast<double>(std::bit_width(static_cast<unsigned>(ranks - 1)));
}

} // namespace zipmpi::proto::coll
