// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reader and writer of the communication matrix in the node segment (wire/traffic_layout.hpp). Tools and the
// launcher use TrafficReader while the job runs, without participation of the ranks.
#pragma once

#include "segment/node_segment.hpp"
#include "wire/traffic_layout.hpp"

#include <cstdint>
#include <vector>

namespace zipmpi::segment {

// Totals of one rank's traffic to another.
struct PeerTotals {
    struct Totals {
        uint64_t messages = 0;
        uint64_t bytes = 0;
        friend bool operator==(const Totals&, const Totals&) = default;
    };
    int32_t to = 0; // rank in MPI_COMM_WORLD
    Totals point_to_point;
    Totals collective;
};

class TrafficReader {
  public:
    explicit TrafficReader(const NodeSegment& segment)
        : segment_(segment) {}
    // Row of a rank of this node, in order of first use of the peers.
    [[nodiscard]] std::vector<PeerTotals> row(uint32_t local) const;
    // Entry of one peer; null: nothing was sent to it yet.
    [[nodiscard]] const wire::PeerTraffic* find(uint32_t local, int world_rank) const;

  private:
    const NodeSegment& segment_;
};

// Writes the row of the calling rank.
class TrafficWriter {
  public:
    TrafficWriter(const NodeSegment& segment, uint32_t local)
        : segment_(segment)
        , local_(local) {}
    // New entry for a peer used for the first time. If memory is short, returns a private dummy entry.
    [[gnu::cold]] wire::PeerTraffic& row_for(int world_rank);

  private:
    const NodeSegment& segment_;
    uint32_t local_;
    uint32_t used_ = 0;
    wire::PeerTraffic overflow_row_{};
};

} // namespace zipmpi::segment
