// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// All-to-all of small blocks in ceil(log2 p) rounds (Bruck): blocks are indexed by their distance in ranks;
// in round k one message carries all blocks whose distance has bit k. Cost log2 p (a + p n b / 2), and as
// many bytes copied.
#include "proto/coll/algorithms.hpp"

namespace zipmpi::proto::coll::alltoall_bruck {

double cost(const CollShape& shape, const CostModel& c) {
    const double bytes = static_cast<double>(shape.bytes) * shape.ranks;
    return rounds_of(shape.ranks) * (c.message + bytes * c.byte) + 2 * bytes * c.byte;
}

void build(Schedule& s, Team& t, const void* send, void* recv, size_t block) {
    const auto p = static_cast<size_t>(t.size);
    const auto rank = static_cast<size_t>(t.rank);
    std::byte* staging = s.scratch(p * block); // block i: to the rank i ahead, or from the rank i behind
    std::byte* out = s.scratch(p * block);
    std::byte* in = s.scratch(p * block);
    if (staging == nullptr || out == nullptr || in == nullptr) return;
    s.copy(staging, at(send, rank * block), (p - rank) * block);
    s.copy(staging + (p - rank) * block, send, rank * block);
    for (size_t bit = 1; bit < p; bit *= 2) {
        size_t bytes = 0;
        for (size_t i = bit; i < p; ++i) {
            if ((i & bit) == 0) continue;
            s.copy(out + bytes, staging + i * block, block);
            bytes += block;
        }
        s.recv(t, in, bytes, static_cast<int>((rank + p - bit) % p));
        s.send(t, out, bytes, static_cast<int>((rank + bit) % p));
        s.wait();
        bytes = 0;
        for (size_t i = bit; i < p; ++i) {
            if ((i & bit) == 0) continue;
            s.copy(staging + i * block, in + bytes, block);
            bytes += block;
        }
    }
    for (size_t i = 0; i < p; ++i) s.copy(at(recv, (rank + p - i) % p * block), staging + i * block, block);
}

} // namespace zipmpi::proto::coll::alltoall_bruck
