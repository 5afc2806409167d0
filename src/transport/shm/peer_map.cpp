// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/peer_map.hpp"

namespace zipmpi::transport::shm {

PeerMap::PeerMap(const segment::NodeSegment& segment)
    : segment_(segment)
    , first_(segment.world_rank(0)) {
    const uint32_t ranks = segment.local_ranks();
    // World ranks ascend with the local index.
    if (segment.world_rank(ranks - 1) - first_ == static_cast<int>(ranks - 1)) consecutive_ = ranks;
}

int PeerMap::search(int world_rank) const {
    const uint32_t ranks = segment_.local_ranks();
    uint32_t low = 0;
    uint32_t high = ranks;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (segment_.world_rank(middle) < world_rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ranks && segment_.world_rank(low) == world_rank ? static_cast<int>(low) : -1;
}

} // namespace zipmpi::transport::shm
