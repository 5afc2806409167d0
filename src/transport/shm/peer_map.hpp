// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The ranks of this node: world rank to local index.
#pragma once

#include "segment/node_segment.hpp"

namespace zipmpi::transport::shm {

class PeerMap {
  public:
    explicit PeerMap(const segment::NodeSegment& segment);
    // Returns the local index of a world rank; -1: not on this node.
    [[nodiscard]] int find(int world_rank) const {
        if (identity_) [[likely]]
            return world_rank < static_cast<int>(local_ranks_) ? world_rank : -1;
        return search(world_rank);
    }

  private:
    [[nodiscard]] int search(int world_rank) const;

    const segment::NodeSegment& segment_;
    uint32_t local_ranks_;
    bool identity_ = true; // local index == world rank for all: the job runs on this node only
};

} // namespace zipmpi::transport::shm
