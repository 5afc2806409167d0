// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Communication matrix in the node segment: for each rank of the node a list of the peers it has sent to, in
// order of first use. One cache line per peer, so memory grows with the number of peers used;
// RankBlock::traffic_rows is their number. Written only by its rank; any process may read at any time.
#pragma once

#include "wire/ring_layout.hpp"

#include <cstdint>

namespace zipmpi::wire {

// Nonatomic: relaxed atomics would take three instructions instead of one. Aligned words are not torn.
struct TrafficCount {
    uint64_t messages;
    uint64_t bytes;

    void add(uint64_t n) noexcept {
        ++messages;
        bytes += n;
    }
};

struct alignas(cache_line) PeerTraffic {
    enum TrafficKind : uint32_t { point_to_point = 0, collective = 1 };
    TrafficCount count[2];
    int32_t peer; // rank in MPI_COMM_WORLD
};
static_assert(sizeof(PeerTraffic) == cache_line);

} // namespace zipmpi::wire
