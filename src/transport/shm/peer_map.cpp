// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/peer_map.hpp"

namespace zipmpi::transport::shm {

PeerMap::PeerMap(const segment::NodeSegment& segment)
    : segment_(segment)
    , local_ranks_(segment.local_ranks()) {
    for (uint32_t i = 0; i < local_ranks_; ++i) identity_ &= segment.world_rank(i) == static_cast<int>(i);
}

int PeerMap::search(int world_rank) const {
    uint32_t low = 0;
    uint32_t high = local_ranks_; // world ranks ascend with the local index
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (segment_.world_rank(middle) < world_rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < local_ranks_ && segment_.world_rank(low) == world_rank ? static_cast<int>(low) : -1;
}

} // namespace zipmpi::transport::shm
