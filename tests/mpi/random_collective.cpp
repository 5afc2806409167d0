// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
#include "random_collective.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace random_collectives {
namespace {

constexpr const char* kind_names[kinds] = {
    "barrier",   "bcast",     "gather",     "gatherv",        "scatter",
    "scatterv",  "allgather", "allgatherv", "alltoall",       "alltoallv",
    "alltoallw", "reduce",    "allreduce",  "reduce_scatter", "reduce_scatter_block",
    "scan",      "exscan"};

} // namespace

long compose(long left, long right) {
    const long a = left >> 32, b = left & 0xffffffff, c = right >> 32, d = right & 0xffffffff;
    return (a * c % prime) << 32 | ((c * b + d) % prime);
}

Collective::Collective(const Settings& settings, std::mt19937& random, const CommContext& place,
                       const Operation& op, CallForm form, int number)
    : seed_(settings.seed)
    , place_(place)
    , op_(op)
    , kind_(static_cast<Kind>(random() % kinds))
    , form_(form)
    , number_(number)
    , root_(static_cast<int>(random() % z(place.size))) {
    const int p = place.size;
    const int sizes[] = {0, 1, 1 + static_cast<int>(random() % 8), static_cast<int>(random() % 300),
                         static_cast<int>(random() % z(settings.most))};
    count_ = sizes[random() % 5];
    in_place_ = random() % 3 == 0 && kind_ != barrier && kind_ != bcast;
    if (rooted() && !at_root()) in_place_ = false;
    // the count of the exchange between two ranks is drawn equally by both
    const unsigned base = static_cast<unsigned>(random());
    const bool both_ways = kind_ == alltoallv || kind_ == alltoallw;
    const auto between = [&](int a, int b) {
        return static_cast<int>((base + z(a) * 37 + z(b) * (both_ways ? 37 : 0)) % z(count_ + 1));
    };
    for (int r = 0, at = 0, out = 0; r < p; ++r) {
        counts_.push_back(between(r, place.rank));
        out_counts_.push_back(between(place.rank, r));
        displs_.push_back(at + 1);
        out_displs_.push_back(out);
        at += counts_.back() + 1;
        out += out_counts_.back();
    }
    for (int r = 0; r < p; ++r) {
        in_bytes_.push_back(displs_[z(r)] * 8);
        out_bytes_.push_back(out_displs_[z(r)] * 8);
    }
    if (!both_ways) out_counts_ = counts_;
    types_.assign(z(p), MPI_LONG);
    const int total = displs_.back() + counts_.back();
    sent_.resize(z(std::max(total, count_ * p)) + 1);
    got_.resize(sent_.size());
}

Vector Collective::fold(int first, int last, int to, int n) const {
    Vector v(z(n));
    for (int i = 0; i < n; ++i) {
        v[z(i)] = given(first, to, i);
        for (int r = first + 1; r <= last; ++r) v[z(i)] = op_.apply(v[z(i)], given(r, to, i));
    }
    return v;
}

// The send buffer, and the receive buffer where it is significant.
void Collective::fill_sent() {
    const int me = place_.rank;
    const auto put = [&](Vector& to, int at, int n, int part) {
        for (int i = 0; i < n; ++i) to[z(at + i)] = given(me, part, i);
    };
    std::fill(got_.begin(), got_.end(), -7);
    std::fill(sent_.begin(), sent_.end(), -9);
    Vector& from = in_place_ ? got_ : sent_;
    switch (kind_) {
    case bcast:
        if (at_root()) put(got_, 0, count_, 0);
        break;
    case gather:
        put(from, in_place_ ? me * count_ : 0, count_, 0);
        break;
    case allgather:
        put(from, in_place_ ? me * count_ : 0, count_, 0);
        break;
    case gatherv:
    case allgatherv:
        put(from, in_place_ ? displs_[z(me)] : 0, counts_[z(me)], 0);
        break;
    case scatter:
        for (int r = 0; r < place_.size && at_root(); ++r) put(sent_, r * count_, count_, r);
        break;
    case scatterv:
        for (int r = 0; r < place_.size && at_root(); ++r) put(sent_, displs_[z(r)], counts_[z(r)], r);
        break;
    case alltoall:
    case reduce_scatter_block:
        for (int r = 0; r < place_.size; ++r) put(from, r * count_, count_, r);
        break;
    case alltoallv:
    case alltoallw:
        for (int r = 0; r < place_.size; ++r)
            put(from, in_place_ ? displs_[z(r)] : out_displs_[z(r)], out_counts_[z(r)], r);
        break;
    case reduce_scatter:
        for (int r = 0, at = 0; r < place_.size; at += counts_[z(r++)]) put(from, at, counts_[z(r)], r);
        break;
    default:
        put(from, 0, count_, 0);
    }
}

// Expected contents of the receive buffer.
void Collective::expect() {
    const int me = place_.rank;
    const int p = place_.size;
    expected_ = got_;
    const auto put = [&](int at, int n, int from, int part) {
        for (int i = 0; i < n; ++i) expected_[z(at + i)] = given(from, part, i);
    };
    const auto put_folded = [&](int first, int last, int part, int n) {
        const Vector v = fold(first, last, part, n);
        std::copy(v.begin(), v.end(), expected_.begin());
    };
    switch (kind_) {
    case bcast:
        put(0, count_, root_, 0);
        break;
    case gather:
    case allgather:
        for (int r = 0; r < p && (kind_ == allgather || at_root()); ++r) put(r * count_, count_, r, 0);
        break;
    case gatherv:
    case allgatherv:
        for (int r = 0; r < p && (kind_ == allgatherv || at_root()); ++r)
            put(displs_[z(r)], counts_[z(r)], r, 0);
        break;
    case scatter:
        if (!in_place_) put(0, count_, root_, me);
        break;
    case scatterv:
        if (!in_place_) put(0, counts_[z(me)], root_, me);
        break;
    case alltoall:
        for (int r = 0; r < p; ++r) put(r * count_, count_, r, me);
        break;
    case alltoallv:
    case alltoallw:
        for (int r = 0; r < p; ++r) put(displs_[z(r)], counts_[z(r)], r, me);
        break;
    case reduce:
        if (at_root()) put_folded(0, p - 1, 0, count_);
        break;
    case allreduce:
        put_folded(0, p - 1, 0, count_);
        break;
    case reduce_scatter:
        put_folded(0, p - 1, me, counts_[z(me)]);
        break;
    case reduce_scatter_block:
        put_folded(0, p - 1, me, count_);
        break;
    case scan:
        put_folded(0, me, 0, count_);
        break;
    case exscan:
        if (me > 0) put_folded(0, me - 1, 0, count_);
        break;
    default:
        break;
    }
}

void Collective::prepare(int round) {
    round_ = round;
    fill_sent();
    expect();
}

void Collective::start() {
    if (request == MPI_REQUEST_NULL)
        call();
    else
        MPI_Start(&request);
}

// MPI_x, MPI_Ix or MPI_x_init with equal arguments.
#define CALL(upper, lower, ...)                                                                              \
    if (form_ == blocking)                                                                                   \
        MPI_##upper(__VA_ARGS__);                                                                            \
    else if (form_ == nonblocking)                                                                           \
        MPI_I##lower(__VA_ARGS__, &request);                                                                 \
    else                                                                                                     \
        MPI_##upper##_init(__VA_ARGS__, MPI_INFO_NULL, &request);                                            \
    break

void Collective::call_now() {
    long* got = got_.data();
    const int own = counts_[z(place_.rank)];
    MPI_Comm c = place_.comm;
    switch (kind_) {
    case barrier:
        CALL(Barrier, barrier, c);
    case bcast:
        CALL(Bcast, bcast, got, count_, MPI_LONG, root_, c);
    case gather:
        CALL(Gather, gather, sent(), count_, MPI_LONG, got, count_, MPI_LONG, root_, c);
    case gatherv:
        CALL(Gatherv, gatherv, sent(), own, MPI_LONG, got, counts_.data(), displs_.data(), MPI_LONG, root_,
             c);
    case scatter:
        CALL(Scatter, scatter, sent_.data(), count_, MPI_LONG, in_place_ ? MPI_IN_PLACE : got, count_,
             MPI_LONG, root_, c);
    case scatterv:
        CALL(Scatterv, scatterv, sent_.data(), counts_.data(), displs_.data(), MPI_LONG,
             in_place_ ? MPI_IN_PLACE : got, own, MPI_LONG, root_, c);
    case allgather:
        CALL(Allgather, allgather, sent(), count_, MPI_LONG, got, count_, MPI_LONG, c);
    case allgatherv:
        CALL(Allgatherv, allgatherv, sent(), own, MPI_LONG, got, counts_.data(), displs_.data(), MPI_LONG, c);
    case alltoall:
        CALL(Alltoall, alltoall, sent(), count_, MPI_LONG, got, count_, MPI_LONG, c);
    case alltoallv:
        CALL(Alltoallv, alltoallv, sent(), out_counts_.data(), out_displs_.data(), MPI_LONG, got,
             counts_.data(), displs_.data(), MPI_LONG, c);
    case alltoallw:
        CALL(Alltoallw, alltoallw, sent(), out_counts_.data(), out_bytes_.data(), types_.data(), got,
             counts_.data(), in_bytes_.data(), types_.data(), c);
    case reduce:
        CALL(Reduce, reduce, sent(), got, count_, MPI_LONG, op_.handle, root_, c);
    case allreduce:
        CALL(Allreduce, allreduce, sent(), got, count_, MPI_LONG, op_.handle, c);
    case reduce_scatter:
        CALL(Reduce_scatter, reduce_scatter, sent(), got, counts_.data(), MPI_LONG, op_.handle, c);
    case reduce_scatter_block:
        CALL(Reduce_scatter_block, reduce_scatter_block, sent(), got, count_, MPI_LONG, op_.handle, c);
    case scan:
        CALL(Scan, scan, sent(), got, count_, MPI_LONG, op_.handle, c);
    case exscan:
        CALL(Exscan, exscan, sent(), got, count_, MPI_LONG, op_.handle, c);
    default:
        break;
    }
}

void Collective::call() {
    call_now();
    if (form_ == persistent) MPI_Start(&request);
}

void Collective::verify() const {
    for (size_t i = 0; i < expected_.size(); ++i) {
        // after an in-place reduce-scatter the rest of the vector is undefined
        const bool open = in_place_ && (kind_ == reduce_scatter || kind_ == reduce_scatter_block) &&
                          i >= z(kind_ == reduce_scatter ? counts_[z(place_.rank)] : count_);
        if (got_[i] == expected_[i] || open || (kind_ == exscan && place_.rank == 0)) continue;
        std::fprintf(
            stderr,
            "random_collectives: seed %u: %s, form %d, round %d, %d ranks, rank %d, root %d, count %d, "
            "in place %d: element %zu is %lx, not %lx\n",
            seed_, kind_names[kind_], form_, round_, place_.size, place_.rank, root_, count_, in_place_, i,
            got_[i], expected_[i]);
        MPI_Abort(MPI_COMM_WORLD, 4);
        std::abort();
    }
}

} // namespace random_collectives
