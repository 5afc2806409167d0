// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Allreduce of much data by recursive halving and doubling (Rabenseifner): in each round partners exchange
// half of what they have and combine the other half, then the parts come back the same way. Each byte leaves
// a rank about twice, in 2 log2 p messages. Partners are neighbours first, so that what is combined is always
// the parts of neighbouring ranks; ranks beyond a power of two lean on their neighbours as in
// allreduce_doubling.cpp.
#include "proto/coll/algorithms.hpp"

namespace zipmpi::proto::coll::allreduce_halving {

double cost(const Shape& shape, const Constants& c) {
    const double core = std::bit_floor(static_cast<unsigned>(shape.ranks));
    const auto bytes = static_cast<double>(shape.bytes);
    const double moved = bytes * (core - 1) / core;
    const double folded = core == shape.ranks ? 0 : 2 * c.message + bytes * (2 * c.byte + c.combine);
    return 2 * rounds_of(static_cast<int>(core)) * c.message + moved * (2 * c.byte + c.combine) + folded;
}

namespace {

struct Range {
    int64_t from;
    int64_t to;
    [[nodiscard]] int64_t count() const { return to - from; }
    [[nodiscard]] Range half(bool upper) const {
        const int64_t middle = from + count() / 2;
        return upper ? Range{middle, to} : Range{from, middle};
    }
};

struct Sum {
    Schedule& s;
    Team& t;
    const void* have; // what is combined so far: the contribution at first, then the result
    void* result;
    std::byte* other;

    [[nodiscard]] size_t bytes(int64_t count) const {
        return static_cast<size_t>(count) * s.operation().element_bytes;
    }
    [[nodiscard]] const std::byte* had(const Range& r) const { return at(have, bytes(r.from)); }
    [[nodiscard]] std::byte* place(const Range& r) const { return at(result, bytes(r.from)); }

    // Sends one range and combines another with what comes.
    void exchange(const Range& out, const Range& in, int partner) {
        const bool in_order = partner > t.rank || s.operation().commutative;
        const bool straight = have != result && in_order; // combined where it comes
        s.recv(t, straight ? place(in) : other, bytes(in.count()), partner);
        if (out.count() != 0) s.send(t, had(out), bytes(out.count()), partner);
        s.wait();
        if (straight)
            s.combine(had(in), place(in), in.count());
        else
            combine_apart(in, partner);
    }
    void combine_apart(const Range& in, int partner) {
        s.copy(place(in), had(in), bytes(in.count()));
        if (partner < t.rank || s.operation().commutative) return s.combine(other, place(in), in.count());
        s.combine(place(in), other, in.count());
        s.copy(place(in), other, bytes(in.count()));
    }
};

} // namespace

void build(Schedule& s, Team& t, const void* mine, void* result) {
    const int64_t count = s.operation().count;
    const Range all{0, count};
    const int core = static_cast<int>(std::bit_floor(static_cast<unsigned>(t.size)));
    const int paired = 2 * (t.size - core); // ranks below this form pairs
    const bool leans = t.rank < paired;     // the next rank leans on this one, or this one on the one before
    Sum sum{s, t, mine, result, s.scratch(s.operation().bytes())};
    if (sum.other == nullptr) return;
    if (leans && t.rank % 2 == 1) {
        s.send(t, mine, sum.bytes(count), t.rank - 1);
        s.wait();
        return s.recv(t, result, sum.bytes(count), t.rank - 1);
    }
    if (leans) {
        sum.exchange({0, 0}, all, t.rank + 1);
        sum.have = result;
    }
    const int place = leans ? t.rank / 2 : t.rank - paired / 2;
    const auto partner_of = [&](int bit) {
        const int p = place ^ bit;
        return p < paired / 2 ? 2 * p : p + paired / 2;
    };
    Range ranges[32] = {all}; // by round
    int round = 0;
    for (int bit = 1; bit < core; bit *= 2, ++round) {
        const bool upper = (place & bit) != 0;
        ranges[round + 1] = ranges[round].half(upper);
        sum.exchange(ranges[round].half(!upper), ranges[round + 1], partner_of(bit));
        sum.have = result;
    }
    for (int bit = core / 2; bit > 0; bit /= 2, --round) {
        const Range& others = ranges[round - 1].half((place & bit) == 0);
        s.recv(t, sum.place(others), sum.bytes(others.count()), partner_of(bit));
        s.send(t, sum.place(ranges[round]), sum.bytes(ranges[round].count()), partner_of(bit));
        s.wait();
    }
    if (leans) s.send(t, result, sum.bytes(count), t.rank + 1);
    s.wait();
}

} // namespace zipmpi::proto::coll::allreduce_halving
