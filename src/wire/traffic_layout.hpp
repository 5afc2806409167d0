// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The rows of the communication matrix, as they lie in the node segment: for each rank of the node a list of
// the peers that it has sent to, in the order in which it met them. One line per peer, so memory follows the
// number of peers that are really used; RankBlock::peers_met is their number. Written by its rank alone;
// anybody may read at any time.
#pragma once

#include "wire/shm_layout.hpp"

#include <cstdint>

namespace zipmpi::wire {

// Plain numbers: atomic ones would take three instructions instead of one, also if they are relaxed. Aligned
// words are written as a whole.
struct TrafficPart {
    uint64_t messages;
    uint64_t bytes;

    void add(uint64_t n) noexcept {
        ++messages;
        bytes += n;
    }
};

struct alignas(line_size) PeerTraffic {
    enum Part : uint32_t { point_to_point = 0, collective = 1 };
    TrafficPart part[2];
    int32_t peer; // its rank in MPI_COMM_WORLD
};
static_assert(sizeof(PeerTraffic) == line_size);

} // namespace zipmpi::wire
