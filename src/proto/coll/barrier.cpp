// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Barrier by dissemination: in round k every rank signals the one 2^k ahead. ceil(log2 p) * a.
#include "proto/coll/coll.hpp"
#include "proto/coll/steps.hpp"

namespace zipmpi::proto::coll {

Err barrier(Team& team) {
    Steps steps(team);
    for (int distance = 1; distance < team.size; distance *= 2) {
        const int to = (team.rank + distance) % team.size;
        const int from = (team.rank - distance + team.size) % team.size;
        if (const Err e = steps.exchange(nullptr, 0, to, nullptr, 0, from); e != Err::success) return e;
    }
    return Err::success;
}

} // namespace zipmpi::proto::coll
