// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Allreduce of large vectors by recursive halving and doubling (Rabenseifner): in each round partners send
// one half of their range and reduce the other; an allgather in reverse order follows. Each rank sends about
// twice the vector, in 2 log2 p messages. Partners are adjacent ranks first, so that every step combines
// adjacent ranges of ranks; ranks beyond a power of two are folded as in allreduce_doubling.cpp.
#include "proto/coll/algorithms.hpp"

namespace zipmpi::proto::coll::allreduce_rabenseifner {

double cost(const CollShape& shape, const CostModel& c) {
    const double core = std::bit_floor(static_cast<unsigned>(shape.ranks));
    const auto bytes = static_cast<double>(shape.bytes);
    const double moved = bytes * (core - 1) / core;
    const double folded = core == shape.ranks ? 0 : 2 * c.message + bytes * (2 * c.byte + c.combine);
    return 2 * rounds_of(static_cast<int>(core)) * c.message + moved * (2 * c.byte + c.combine) + folded;
}

namespace {

struct VectorRange {
    int64_t from;
    int64_t to;
    [[nodiscard]] int64_t count() const { return to - from; }
    [[nodiscard]] VectorRange half(bool upper) const {
        const int64_t middle = from + count() / 2;
        return upper ? VectorRange{middle, to} : VectorRange{from, middle};
    }
};

struct HalvingResult {
    Schedule& s;
    Team& t;
    const void* partial; // partial result: the input at first, then `result`
    void* result;
    std::byte* recv_buffer;

    [[nodiscard]] size_t bytes(int64_t count) const {
        return static_cast<size_t>(count) * s.op().element_bytes;
    }
    [[nodiscard]] const std::byte* partial_at(const VectorRange& r) const {
        return at(partial, bytes(r.from));
    }
    [[nodiscard]] std::byte* result_at(const VectorRange& r) const { return at(result, bytes(r.from)); }

    // Sends one range and combines the other one with the received data.
    void exchange(const VectorRange& out, const VectorRange& in, int partner) {
        const bool in_order = partner > t.rank || s.op().commutative;
        const bool direct = partial != result && in_order; // received into the result and combined there
        s.recv(t, direct ? result_at(in) : recv_buffer, bytes(in.count()), partner);
        if (out.count() != 0) s.send(t, partial_at(out), bytes(out.count()), partner);
        s.wait();
        if (direct)
            s.combine(partial_at(in), result_at(in), in.count());
        else
            combine_in_scratch(in, partner);
    }
    void combine_in_scratch(const VectorRange& in, int partner) {
        s.copy(result_at(in), partial_at(in), bytes(in.count()));
        if (partner < t.rank || s.op().commutative) return s.combine(recv_buffer, result_at(in), in.count());
        s.combine(result_at(in), recv_buffer, in.count());
        s.copy(result_at(in), recv_buffer, bytes(in.count()));
    }
};

} // namespace

void build(Schedule& s, Team& t, const void* input, void* result) {
    const int64_t count = s.op().count;
    const VectorRange all{0, count};
    const int core = static_cast<int>(std::bit_floor(static_cast<unsigned>(t.size)));
    const int paired = 2 * (t.size - core); // ranks below this form pairs
    const bool in_pair = t.rank < paired;   // the odd rank of a pair is folded into the even one
    HalvingResult sum{s, t, input, result, s.scratch(s.op().bytes())};
    if (sum.recv_buffer == nullptr) return;
    if (in_pair && t.rank % 2 == 1) {
        s.send(t, input, sum.bytes(count), t.rank - 1);
        s.wait();
        return s.recv(t, result, sum.bytes(count), t.rank - 1);
    }
    if (in_pair) {
        sum.exchange({0, 0}, all, t.rank + 1);
        sum.partial = result;
    }
    const int position = in_pair ? t.rank / 2 : t.rank - paired / 2;
    const auto partner_of = [&](int bit) {
        const int p = position ^ bit;
        return p < paired / 2 ? 2 * p : p + paired / 2;
    };
    VectorRange ranges[32] = {all}; // by round
    int round = 0;
    for (int bit = 1; bit < core; bit *= 2, ++round) {
        const bool upper = (position & bit) != 0;
        ranges[round + 1] = ranges[round].half(upper);
        sum.exchange(ranges[round].half(!upper), ranges[round + 1], partner_of(bit));
        sum.partial = result;
    }
    for (int bit = core / 2; bit > 0; bit /= 2, --round) {
        const VectorRange& peer_range = ranges[round - 1].half((position & bit) == 0);
        s.recv(t, sum.result_at(peer_range), sum.bytes(peer_range.count()), partner_of(bit));
        s.send(t, sum.result_at(ranges[round]), sum.bytes(ranges[round].count()), partner_of(bit));
        s.wait();
    }
    if (in_pair) s.send(t, result, sum.bytes(count), t.rank + 1);
    s.wait();
}

} // namespace zipmpi::proto::coll::allreduce_rabenseifner
