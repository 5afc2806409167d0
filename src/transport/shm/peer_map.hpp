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
        if (consecutive_ == 0) [[unlikely]]
            return search(world_rank);
        const int index = world_rank - first_;
        return static_cast<uint32_t>(index) < consecutive_ ? index : -1;
    }

  private:
    [[nodiscard]] int search(int world_rank) const;

    const segment::NodeSegment& segment_;
    int first_;                // world rank with local index 0
    uint32_t consecutive_ = 0; // ranks of this node if their world ranks are consecutive, else 0
};

} // namespace zipmpi::transport::shm
