// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Allreduce by recursive doubling. If the number of ranks is no power of two, the first ranks form pairs
// whose second half leans on the first, so that what is combined is always the parts of neighbouring ranks.
#include "proto/coll/algorithms.hpp"

#include <utility>

namespace zipmpi::proto::coll::allreduce_doubling {

double cost(const Shape& shape, const Constants& c) {
    const double folded = std::has_single_bit(static_cast<unsigned>(shape.ranks)) ? 0 : 2;
    return (rounds_of(shape.ranks) + folded) *
           (c.message + static_cast<double>(shape.bytes) * (c.byte + c.combine));
}

void build(Schedule& s, Team& t, const void* mine, void* result) {
    const size_t bytes = s.operation().bytes();
    const int64_t count = s.operation().count;
    s.copy(result, mine, bytes);
    if (t.size == 1) return;
    const int core = static_cast<int>(std::bit_floor(static_cast<unsigned>(t.size)));
    const int paired = 2 * (t.size - core); // ranks below this form pairs
    if (t.rank < paired && t.rank % 2 == 1) {
        s.send(t, result, bytes, t.rank - 1);
        s.wait();
        s.recv(t, result, bytes, t.rank - 1);
        return;
    }
    void* sum = result;
    void* other = s.scratch(bytes);
    if (t.rank < paired) {
        s.recv(t, other, bytes, t.rank + 1);
        s.wait();
        s.combine(sum, other, count);
        std::swap(sum, other);
    }
    const int place = t.rank < paired ? t.rank / 2 : t.rank - paired / 2;
    for (int bit = 1; bit < core; bit *= 2) {
        const int partner_place = place ^ bit;
        const int partner = partner_place < paired / 2 ? 2 * partner_place : partner_place + paired / 2;
        s.recv(t, other, bytes, partner);
        s.send(t, sum, bytes, partner);
        s.wait();
        if (partner < t.rank) {
            s.combine(other, sum, count);
        } else {
            s.combine(sum, other, count);
            std::swap(sum, other);
        }
    }
    if (t.rank < paired) s.send(t, sum, bytes, t.rank + 1);
    s.wait();
    s.copy(result, sum, bytes);
}

} // namespace zipmpi::proto::coll::allreduce_doubling
