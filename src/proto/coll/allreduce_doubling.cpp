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

namespace {

// What is combined so far, and where the next part is received. What a rank has combined stays where it is if
// the other part goes to the left of it, else it moves to where the other part came. As each rank knows how
// often that happens, what it begins with is so chosen that the end is in the result, without a copy.
struct Sum {
    Schedule& s;
    const void* at;
    void* kept; // where `at` goes if it is to stay; null: is there
    void* other;

    // Messages of a round have been added; waits for them.
    void combine(bool other_is_left) {
        const int64_t count = s.operation().count;
        if (other_is_left && kept != nullptr) s.copy(kept, at, s.operation().bytes());
        s.wait();
        if (other_is_left) {
            if (kept != nullptr) at = std::exchange(kept, nullptr);
            s.combine(other, const_cast<void*>(at), count);
        } else {
            s.combine(at, other, count);
            void* const left = kept != nullptr ? std::exchange(kept, nullptr) : const_cast<void*>(at);
            at = std::exchange(other, left);
        }
    }
};

} // namespace

void build(Schedule& s, Team& t, const void* mine, void* result) {
    const size_t bytes = s.operation().bytes();
    if (t.size == 1) return s.copy(result, mine, bytes);
    const int core = static_cast<int>(std::bit_floor(static_cast<unsigned>(t.size)));
    const int paired = 2 * (t.size - core); // ranks below this form pairs
    if (t.rank < paired && t.rank % 2 == 1) {
        s.send(t, mine, bytes, t.rank - 1);
        s.wait();
        s.recv(t, result, bytes, t.rank - 1);
        return;
    }
    const bool leans = t.rank < paired; // the next rank leans on this one
    const int place = leans ? t.rank / 2 : t.rank - paired / 2;
    const int rounds = std::bit_width(static_cast<unsigned>(core)) - 1;
    // rounds in which the other part is to the right, so that the sum moves
    const int moves = rounds - std::popcount(static_cast<unsigned>(place)) + (leans ? 1 : 0);
    const bool first_moves = leans || place % 2 == 0;
    void* const spare = s.scratch(bytes);
    Sum sum{s, mine, nullptr, spare};
    if (mine != result) {
        const bool ends_where_it_begins = (moves - (first_moves ? 1 : 0)) % 2 == 0;
        void* const first = ends_where_it_begins ? result : spare;
        void* const second = ends_where_it_begins ? spare : result;
        sum.kept = first_moves ? second : first;
        sum.other = first_moves ? first : second;
    }
    if (leans) {
        s.recv(t, sum.other, bytes, t.rank + 1);
        sum.combine(false);
    }
    for (int bit = 1; bit < core; bit *= 2) {
        const int partner_place = place ^ bit;
        const int partner = partner_place < paired / 2 ? 2 * partner_place : partner_place + paired / 2;
        s.recv(t, sum.other, bytes, partner);
        s.send(t, sum.at, bytes, partner);
        sum.combine(partner < t.rank);
    }
    if (leans) s.send(t, sum.at, bytes, t.rank + 1);
    s.wait();
    s.copy(result, sum.at, bytes); // nothing, unless in place
}

} // namespace zipmpi::proto::coll::allreduce_doubling
