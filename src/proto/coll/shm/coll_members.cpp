// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/coll/shm/coll_members.hpp"

#include <bit>

namespace zipmpi::proto::coll {

CollMembers::CollMembers(const Team& team)
    : shm_(team.engine->shm())
    , self_(team.rank)
    , count_(team.size)
    , map_(team.map)
    , ranks_(team.parent_ranks) {}

void CollMembers::wake_sleepers(std::atomic<uint64_t>* sleepers) const {
    for (int first = 0; first < count_; first += 64) {
        auto& word = sleepers[first / 64];
        if (word.load(std::memory_order_seq_cst) == 0) continue;
        uint64_t bits = word.exchange(0, std::memory_order_seq_cst);
        for (; bits != 0; bits &= bits - 1) {
            const int r = first + std::countr_zero(bits);
            if (r < count_ && r != self_) shm_.wake_peer(peer(r));
        }
    }
}

} // namespace zipmpi::proto::coll
