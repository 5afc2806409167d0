// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Allgather around a ring: p - 1 steps, in each of which every rank passes on the block it got last.
// (p - 1) * (a + n b).
#include "proto/coll/coll.hpp"
#include "proto/coll/steps.hpp"

namespace zipmpi::proto::coll {

Err allgather(Team& team, void* all, size_t block) {
    Steps steps(team);
    const int next = (team.rank + 1) % team.size;
    const int previous = (team.rank - 1 + team.size) % team.size;
    const auto at = [&](int r) { return static_cast<std::byte*>(all) + static_cast<size_t>(r) * block; };
    for (int step = 0; step < team.size - 1; ++step) {
        const int out = (team.rank - step + team.size) % team.size;
        const int in = (out - 1 + team.size) % team.size;
        if (const Err e = steps.exchange(at(out), block, next, at(in), block, previous); e != Err::success)
            return e;
    }
    return Err::success;
}

} // namespace zipmpi::proto::coll
