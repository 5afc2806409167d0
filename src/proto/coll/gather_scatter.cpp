// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Gather and scatter straight between the root and each rank. (p - 1) * (a + n b) at the root.
#include "proto/coll/coll.hpp"
#include "proto/coll/steps.hpp"

namespace zipmpi::proto::coll {

Err gather(Team& team, const void* mine, void* all, size_t block, int root) {
    Steps steps(team);
    if (team.rank != root) return steps.send(mine, block, root);
    Err result = Err::success;
    for (int r = 0; r < team.size; ++r) {
        if (r == root) continue;
        const Err e = steps.recv(static_cast<std::byte*>(all) + static_cast<size_t>(r) * block, block, r);
        if (e != Err::success) result = e; // take the others' parts all the same: they wait to be rid of them
    }
    return result;
}

Err scatter(Team& team, const void* all, void* mine, size_t block, int root) {
    Steps steps(team);
    if (team.rank != root) return steps.recv(mine, block, root);
    for (int r = 0; r < team.size; ++r) {
        if (r == root) continue;
        const Err e =
            steps.send(static_cast<const std::byte*>(all) + static_cast<size_t>(r) * block, block, r);
        if (e != Err::success) return e;
    }
    return Err::success;
}

} // namespace zipmpi::proto::coll
