// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Allreduce by recursive doubling; ranks beyond the largest power of two hand their part to a neighbour first
// and get the result from it. (ceil(log2 p) + 2) * (a + n b + n c).
#include "proto/coll/coll.hpp"
#include "proto/coll/steps.hpp"

#include <bit>

namespace zipmpi::proto::coll {

Err allreduce(Team& team, void* data, const Combine& combine) {
    Steps steps(team);
    if (team.size == 1) return Err::success;
    const size_t bytes = combine.bytes();
    const Scratch other = make_scratch(bytes);
    if (!other) return no_scratch(bytes);
    const int core = static_cast<int>(std::bit_floor(static_cast<unsigned>(team.size)));
    const int extra = team.size - core; // ranks core .. size-1 lean on rank - core
    if (team.rank >= core) {
        if (const Err e = steps.send(data, bytes, team.rank - core); e != Err::success) return e;
        return steps.recv(data, bytes, team.rank - core);
    }
    if (team.rank < extra) {
        if (const Err e = steps.recv(other.get(), bytes, team.rank + core); e != Err::success) return e;
        combine.apply(other.get(), data, combine.count);
    }
    for (int bit = 1; bit < core; bit *= 2) {
        const int partner = team.rank ^ bit;
        if (const Err e = steps.exchange(data, bytes, partner, other.get(), bytes, partner);
            e != Err::success)
            return e;
        combine.apply(other.get(), data, combine.count);
    }
    return team.rank < extra ? steps.send(data, bytes, team.rank + core) : Err::success;
}

} // namespace zipmpi::proto::coll
