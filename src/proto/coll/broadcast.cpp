// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Broadcast down a binomial tree. ceil(log2 p) * (a + n b).
#include "proto/coll/coll.hpp"
#include "proto/coll/steps.hpp"

namespace zipmpi::proto::coll {

Err broadcast(Team& team, void* data, size_t bytes, int root) {
    Steps steps(team);
    const int position = (team.rank - root + team.size) % team.size; // the root is 0 in the tree
    const auto rank_at = [&](int p) { return (p + root) % team.size; };
    int bit = 1;
    while (bit < team.size && (position & bit) == 0) bit *= 2; // the lowest bit set: how the parent differs
    if (position != 0)
        if (const Err e = steps.recv(data, bytes, rank_at(position - bit)); e != Err::success) return e;
    for (bit /= 2; bit > 0; bit /= 2)
        if (position + bit < team.size)
            if (const Err e = steps.send(data, bytes, rank_at(position + bit)); e != Err::success) return e;
    return Err::success;
}

} // namespace zipmpi::proto::coll
