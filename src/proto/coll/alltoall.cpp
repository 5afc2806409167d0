// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// All-to-all in p - 1 rounds: in round k every rank sends to the one k ahead and receives from the one k
// behind. (p - 1) * (a + n b).
#include "proto/coll/coll.hpp"
#include "proto/coll/steps.hpp"

#include <cstring>

namespace zipmpi::proto::coll {

Err alltoall(Team& team, const void* send, void* recv, size_t block) {
    Steps steps(team);
    const auto out = [&](int r) {
        return static_cast<const std::byte*>(send) + static_cast<size_t>(r) * block;
    };
    const auto in = [&](int r) { return static_cast<std::byte*>(recv) + static_cast<size_t>(r) * block; };
    if (block != 0) std::memcpy(in(team.rank), out(team.rank), block);
    for (int k = 1; k < team.size; ++k) {
        const int to = (team.rank + k) % team.size;
        const int from = (team.rank - k + team.size) % team.size;
        if (const Err e = steps.exchange(out(to), block, to, in(from), block, from); e != Err::success)
            return e;
    }
    return Err::success;
}

} // namespace zipmpi::proto::coll
