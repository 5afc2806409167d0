// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reading and writing the rows of the communication matrix in the node segment (wire/traffic_layout.hpp).
// TrafficReader needs no help of the ranks: for tools and the launcher, while the job runs.
#pragma once

#include "boot/node_segment.hpp"
#include "wire/traffic_layout.hpp"

#include <cstdint>
#include <vector>

namespace zipmpi::boot {

// What one rank has sent to another.
struct Sent {
    struct Part {
        uint64_t messages = 0;
        uint64_t bytes = 0;
        friend bool operator==(const Part&, const Part&) = default;
    };
    int32_t to = 0; // rank in MPI_COMM_WORLD
    Part point_to_point;
    Part collective;
};

class TrafficReader {
  public:
    explicit TrafficReader(const NodeSegment& segment)
        : segment_(segment) {}
    // The row of a rank of this node, in the order in which it met its peers.
    [[nodiscard]] std::vector<Sent> row(uint32_t local) const;
    // The same for one peer; null: nothing was sent to it yet.
    [[nodiscard]] const wire::PeerTraffic* find(uint32_t local, int world_rank) const;

  private:
    const NodeSegment& segment_;
};

// The own row, for the rank itself.
class TrafficWriter {
  public:
    TrafficWriter(const NodeSegment& segment, uint32_t local)
        : segment_(segment)
        , local_(local) {}
    // The next line, for a peer that was not met before. Where memory is short: a line that nobody sees.
    [[gnu::cold]] wire::PeerTraffic& meet(int world_rank);

  private:
    const NodeSegment& segment_;
    uint32_t local_;
    uint32_t used_ = 0;
    wire::PeerTraffic unseen_{};
};

} // namespace zipmpi::boot
