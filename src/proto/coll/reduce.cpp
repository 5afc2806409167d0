// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reduction up a binomial tree. ceil(log2 p) * (a + n b + n c), c being the cost of combining one byte.
#include "proto/coll/coll.hpp"
#include "proto/coll/steps.hpp"

namespace zipmpi::proto::coll {

Err reduce(Team& team, void* data, const Combine& combine, int root) {
    Steps steps(team);
    if (team.size == 1) return Err::success;
    const size_t bytes = combine.bytes();
    const Scratch other = make_scratch(bytes);
    if (!other) return no_scratch(bytes);
    const int position = (team.rank - root + team.size) % team.size;
    const auto rank_at = [&](int p) { return (p + root) % team.size; };
    for (int bit = 1; bit < team.size; bit *= 2) {
        if ((position & bit) != 0) return steps.send(data, bytes, rank_at(position - bit));
        if (position + bit >= team.size) continue;
        if (const Err e = steps.recv(other.get(), bytes, rank_at(position + bit)); e != Err::success)
            return e;
        combine.apply(other.get(), data, combine.count);
    }
    return Err::success;
}

} // namespace zipmpi::proto::coll
