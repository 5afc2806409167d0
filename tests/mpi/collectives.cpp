// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives that random_collectives.cpp does not cover: between two groups, with noncontiguous datatypes,
// with operations on pairs and on structures, freed objects, and invalid calls.
#include "check.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

size_t z(int n) { return static_cast<size_t>(n); }

// Completes a collective started in one of the three forms.
void complete(MPI_Request& request, bool persistent) {
    for (int round = 0; round < (persistent ? 2 : 1); ++round) {
        if (persistent) MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (persistent) MPI_Request_free(&request);
}

#define IN_ALL_FORMS(reset, verify, upper, lower, ...)                                                       \
    do {                                                                                                     \
        MPI_Request request_ = MPI_REQUEST_NULL;                                                             \
        reset;                                                                                               \
        CHECK(MPI_##upper(__VA_ARGS__) == MPI_SUCCESS);                                                      \
        verify;                                                                                              \
        reset;                                                                                               \
        CHECK(MPI_I##lower(__VA_ARGS__, &request_) == MPI_SUCCESS);                                          \
        complete(request_, false);                                                                           \
        verify;                                                                                              \
        reset;                                                                                               \
        CHECK(MPI_##upper##_init(__VA_ARGS__, MPI_INFO_NULL, &request_) == MPI_SUCCESS);                     \
        complete(request_, true);                                                                            \
        verify;                                                                                              \
    } while (false)

struct Groups {
    MPI_Comm local = MPI_COMM_NULL;
    MPI_Comm inter = MPI_COMM_NULL;
    int side = 0, rank = 0, here = 0, there = 0;
    Groups() {
        const int first = size_ / 3 + 1;
        side = rank_ < first ? 0 : 1;
        MPI_Comm_split(MPI_COMM_WORLD, side, 0, &local);
        MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, side == 0 ? first : 0, 5, &inter);
        MPI_Comm_rank(inter, &rank);
        MPI_Comm_size(inter, &here);
        MPI_Comm_remote_size(inter, &there);
        MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    }
    ~Groups() {
        MPI_Comm_free(&inter);
        MPI_Comm_free(&local);
    }
    // The root argument for a root of that side and rank.
    [[nodiscard]] int root(int of_side, int r) const {
        return side != of_side ? r : rank == r ? MPI_ROOT : MPI_PROC_NULL;
    }
    [[nodiscard]] int size_of(int of_side) const { return side == of_side ? here : there; }
};

int value(int side, int rank, int part, int i) { return side * 100000 + rank * 1000 + part * 50 + i; }

constexpr int n = 7;

void between_groups_rooted(const Groups& g, int root_side, int root_rank) {
    const int root = g.root(root_side, root_rank);
    const bool at_root = root == MPI_ROOT;
    const bool gives = g.side != root_side;
    std::vector<int> mine(n), got(z(n * std::max(g.here, g.there)), -1);
    for (int i = 0; i < n; ++i) mine[z(i)] = value(g.side, g.rank, 0, i);
    // other ranks of the root's group pass insignificant arguments to a gather
    const int* sent = gives ? mine.data() : nullptr;
    const auto clear = [&] { std::fill(got.begin(), got.end(), -1); };
    IN_ALL_FORMS(clear(),
                 for (int r = 0; at_root && r < g.there; ++r) for (int i = 0; i < n; ++i)
                     CHECK(got[z(r * n + i)] == value(1 - g.side, r, 0, i)),
                 Gather, gather, sent, gives ? n : 0, gives ? MPI_INT : MPI_DATATYPE_NULL, got.data(), n,
                 MPI_INT, root, g.inter);
    std::vector<int> all(z(n * g.there));
    for (int r = 0; r < g.there; ++r)
        for (int i = 0; i < n; ++i) all[z(r * n + i)] = value(g.side, g.rank, r, i);
    IN_ALL_FORMS(clear(),
                 for (int i = 0; gives && i < n; ++i)
                     CHECK(got[z(i)] == value(root_side, root_rank, g.rank, i)),
                 Scatter, scatter, all.data(), n, MPI_INT, got.data(), n, MPI_INT, root, g.inter);
    IN_ALL_FORMS(clear(); if (at_root) std::copy(mine.begin(), mine.end(), got.begin()),
                          for (int i = 0; gives && i < n; ++i)
                              CHECK(got[z(i)] == value(root_side, root_rank, 0, i)),
                          Bcast, bcast, got.data(), n, MPI_INT, root, g.inter);
    IN_ALL_FORMS(
        clear(),
        if (at_root) {
            int sum = 0;
            for (int r = 0; r < g.there; ++r) sum += value(1 - g.side, r, 0, 3);
            CHECK(got[3] == sum);
        },
        Reduce, reduce, mine.data(), got.data(), n, MPI_INT, MPI_SUM, root, g.inter);
    // blocks of different sizes
    std::vector<int> counts, displs, starts;
    for (int r = 0, at = 0; r < g.there; ++r) {
        counts.push_back(r % 3);
        starts.push_back(r * n);
        displs.push_back(at);
        at += r % 3 + 1;
    }
    IN_ALL_FORMS(clear(),
                 for (int r = 0; at_root && r < g.there; ++r) for (int i = 0; i < r % 3; ++i)
                     CHECK(got[z(displs[z(r)] + i)] == value(1 - g.side, r, 0, i)),
                 Gatherv, gatherv, mine.data(), g.rank % 3, MPI_INT, got.data(), counts.data(), displs.data(),
                 MPI_INT, root, g.inter);
    IN_ALL_FORMS(clear(),
                 for (int i = 0; gives && i < g.rank % 3; ++i)
                     CHECK(got[z(i)] == value(root_side, root_rank, g.rank, i)),
                 Scatterv, scatterv, all.data(), counts.data(), starts.data(), MPI_INT, got.data(),
                 g.rank % 3, MPI_INT, root, g.inter);
}

void between_groups_all(const Groups& g) {
    std::vector<int> mine(n), got(z(n * std::max(g.here, g.there)), -1);
    for (int i = 0; i < n; ++i) mine[z(i)] = value(g.side, g.rank, 0, i);
    const auto clear = [&] { std::fill(got.begin(), got.end(), -1); };
    const int other = 1 - g.side;
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK(MPI_Barrier(g.inter) == MPI_SUCCESS);
    CHECK(MPI_Ibarrier(g.inter, &request) == MPI_SUCCESS);
    complete(request, false);
    CHECK(MPI_Barrier_init(g.inter, MPI_INFO_NULL, &request) == MPI_SUCCESS);
    complete(request, true);
    const auto check_gathered = [&] {
        for (int r = 0; r < g.there; ++r)
            for (int i = 0; i < n; ++i) CHECK(got[z(r * n + i)] == value(other, r, 0, i));
    };
    IN_ALL_FORMS(clear(), check_gathered(), Allgather, allgather, mine.data(), n, MPI_INT, got.data(), n,
                 MPI_INT, g.inter);
    std::vector<int> counts(z(g.there), n), displs;
    for (int r = 0; r < g.there; ++r) displs.push_back(r * n);
    IN_ALL_FORMS(clear(), check_gathered(), Allgatherv, allgatherv, mine.data(), n, MPI_INT, got.data(),
                 counts.data(), displs.data(), MPI_INT, g.inter);
    std::vector<int> all(z(n * g.there));
    for (int r = 0; r < g.there; ++r)
        for (int i = 0; i < n; ++i) all[z(r * n + i)] = value(g.side, g.rank, r, i);
    const auto check_exchanged = [&] {
        for (int r = 0; r < g.there; ++r)
            for (int i = 0; i < n; ++i) CHECK(got[z(r * n + i)] == value(other, r, g.rank, i));
    };
    IN_ALL_FORMS(clear(), check_exchanged(), Alltoall, alltoall, all.data(), n, MPI_INT, got.data(), n,
                 MPI_INT, g.inter);
    IN_ALL_FORMS(clear(), check_exchanged(), Alltoallv, alltoallv, all.data(), counts.data(), displs.data(),
                 MPI_INT, got.data(), counts.data(), displs.data(), MPI_INT, g.inter);
    std::vector<int> bytes;
    for (const int d : displs) bytes.push_back(d * 4);
    const std::vector<MPI_Datatype> types(z(g.there), MPI_INT);
    IN_ALL_FORMS(clear(), check_exchanged(), Alltoallw, alltoallw, all.data(), counts.data(), bytes.data(),
                 types.data(), got.data(), counts.data(), bytes.data(), types.data(), g.inter);
    int sum = 0;
    for (int r = 0; r < g.there; ++r) sum += value(other, r, 0, 3);
    IN_ALL_FORMS(clear(), CHECK(got[3] == sum), Allreduce, allreduce, mine.data(), got.data(), n, MPI_INT,
                 MPI_SUM, g.inter);
    // the vector has equally many elements on both sides
    const int block = g.there * 2;
    std::vector<int> vector(z(block * g.here));
    for (size_t i = 0; i < vector.size(); ++i) vector[i] = static_cast<int>(i) * 10 + g.side * 1000 + g.rank;
    const auto check_scattered = [&] {
        for (int i = 0; i < block; ++i) {
            int expected = 0;
            for (int r = 0; r < g.there; ++r) expected += (g.rank * block + i) * 10 + other * 1000 + r;
            CHECK(got[z(i)] == expected);
        }
    };
    got.resize(std::max(got.size(), z(block)));
    IN_ALL_FORMS(clear(), check_scattered(), Reduce_scatter_block, reduce_scatter_block, vector.data(),
                 got.data(), block, MPI_INT, MPI_SUM, g.inter);
    const std::vector<int> blocks(z(g.here), block);
    IN_ALL_FORMS(clear(), check_scattered(), Reduce_scatter, reduce_scatter, vector.data(), got.data(),
                 blocks.data(), MPI_INT, MPI_SUM, g.inter);
    FAILS(MPI_Scan(mine.data(), got.data(), n, MPI_INT, MPI_SUM, g.inter), MPI_ERR_COMM);
    FAILS(MPI_Exscan(mine.data(), got.data(), n, MPI_INT, MPI_SUM, g.inter), MPI_ERR_COMM);
}

// Every second int; rank r of the root's side sends contiguous ones.
void noncontiguous() {
    MPI_Datatype every_second = MPI_DATATYPE_NULL;
    MPI_Datatype spread = MPI_DATATYPE_NULL;
    MPI_Type_vector(3, 1, 2, MPI_INT, &every_second);
    MPI_Type_create_resized(every_second, 0, 6 * sizeof(int), &spread);
    MPI_Type_commit(&spread);
    MPI_Type_free(&every_second);
    std::vector<int> got(z(6 * size_), -1);
    const int mine[3] = {rank_, rank_ + 100, rank_ + 200};
    const auto clear = [&] { std::fill(got.begin(), got.end(), -1); };
    const auto check_all = [&] {
        for (int r = 0; r < size_; ++r)
            for (int i = 0; i < 6; ++i) CHECK(got[z(6 * r + i)] == (i % 2 == 1 ? -1 : r + i / 2 * 100));
    };
    IN_ALL_FORMS(clear(), check_all(), Allgather, allgather, mine, 3, MPI_INT, got.data(), 1, spread,
                 MPI_COMM_WORLD);
    const auto place_own = [&] {
        clear();
        for (int i = 0; i < 3; ++i) got[z(6 * rank_ + 2 * i)] = mine[i];
    };
    IN_ALL_FORMS(place_own(), check_all(), Allgather, allgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL,
                 got.data(), 1, spread, MPI_COMM_WORLD);
    IN_ALL_FORMS(clear(), if (rank_ == size_ - 1) check_all(), Gather, gather, mine, 3, MPI_INT, got.data(),
                 1, spread, size_ - 1, MPI_COMM_WORLD);
    // one rank describes its bytes by another datatype: all must choose one algorithm
    int plain[3] = {-1, -1, -1};
    if (rank_ == 0) {
        for (int i = 0; i < 6; ++i) got[z(i)] = i;
        MPI_Bcast(got.data(), 1, spread, 0, MPI_COMM_WORLD);
    } else {
        MPI_Bcast(plain, 3, MPI_INT, 0, MPI_COMM_WORLD);
        CHECK(plain[0] == 0 && plain[1] == 2 && plain[2] == 4);
    }
    MPI_Request request = MPI_REQUEST_NULL;
    clear();
    MPI_Iallgather(mine, 3, MPI_INT, got.data(), 1, spread, MPI_COMM_WORLD, &request);
    MPI_Type_free(&spread); // still in use by the collective
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_all();
}

struct Struct { // layout in memory, with padding
    char key;
    double weight;
};

void heaviest(void* in, void* inout, int* count, MPI_Datatype* type) {
    MPI_Aint lower = 0, extent = 0;
    MPI_Type_get_extent(*type, &lower, &extent); // allowed in a user-defined function
    CHECK(extent == sizeof(Struct));
    for (int i = 0; i < *count; ++i) {
        const auto& a = static_cast<const Struct*>(in)[i];
        auto& b = static_cast<Struct*>(inout)[i];
        if (a.weight >= b.weight) b = a;
    }
}

void operations() {
    const int lengths_[2] = {1, 1};
    const MPI_Aint places[2] = {offsetof(Struct, key), offsetof(Struct, weight)};
    const MPI_Datatype parts[2] = {MPI_CHAR, MPI_DOUBLE};
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(2, lengths_, places, parts, &type);
    MPI_Type_commit(&type);
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(heaviest, 1, &op);
    int commutes = 0;
    MPI_Op_commutative(op, &commutes);
    CHECK(commutes == 1);
    constexpr int many = 9000;
    std::vector<Struct> mine(many), got(many);
    for (int i = 0; i < many; ++i)
        mine[z(i)] = {static_cast<char>('a' + rank_), static_cast<double>((rank_ + i) % size_)};
    const auto check_got = [&] {
        for (int i = 0; i < many; ++i)
            CHECK(got[z(i)].weight == size_ - 1 && (got[z(i)].key - 'a' + i) % size_ == size_ - 1);
    };
    IN_ALL_FORMS(std::fill(got.begin(), got.end(), Struct{}), check_got(), Allreduce, allreduce, mine.data(),
                 got.data(), many, type, op, MPI_COMM_WORLD);
    IN_ALL_FORMS(std::fill(got.begin(), got.end(), Struct{}), if (rank_ == 0) check_got(), Reduce, reduce,
                 mine.data(), got.data(), many, type, op, 0, MPI_COMM_WORLD);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(mine.data(), got.data(), many, type, op, MPI_COMM_WORLD, &request);
    MPI_Op_free(&op); // still in use by the collective
    MPI_Type_free(&type);
    CHECK(op == MPI_OP_NULL);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_got();

    struct Pair {
        double value;
        int index;
    };
    const Pair own{static_cast<double>(rank_ / 2), rank_};
    Pair best{};
    MPI_Allreduce(&own, &best, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
    CHECK(best.value == 0 && best.index == 0);
    MPI_Allreduce(&own, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    CHECK(best.value == (size_ - 1) / 2 && best.index == (size_ - 1) / 2 * 2);
    long a[2] = {3, 4}, b[2] = {10, 20};
    MPI_Reduce_local(a, b, 2, MPI_LONG, MPI_SUM);
    CHECK(b[0] == 13 && b[1] == 24);
}

// Sums that depend on the order of evaluation are bitwise equal on all ranks.
void same_on_all(int count) {
    std::vector<double> mine(z(count)), sum(z(count));
    for (int i = 0; i < count; ++i) mine[z(i)] = 1.0 / (3 + rank_ + i % 7) * (rank_ % 2 == 0 ? 1e9 : 1.0);
    MPI_Allreduce(mine.data(), sum.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    std::vector<uint64_t> bits(z(count)), all(z(count)), any(z(count));
    std::memcpy(bits.data(), sum.data(), sum.size() * sizeof(double));
    MPI_Allreduce(bits.data(), all.data(), count, MPI_UINT64_T, MPI_BAND, MPI_COMM_WORLD);
    MPI_Allreduce(bits.data(), any.data(), count, MPI_UINT64_T, MPI_BOR, MPI_COMM_WORLD);
    CHECK(all == bits && any == bits);
}

void refused() {
    int a = 1, b = 2;
    MPI_Request request = MPI_REQUEST_NULL;
    FAILS(MPI_Bcast(&a, 1, MPI_INT, size_, MPI_COMM_WORLD), MPI_ERR_ROOT);
    FAILS(MPI_Ibcast(&a, 1, MPI_INT, -1, MPI_COMM_WORLD, &request), MPI_ERR_ROOT);
    FAILS(MPI_Bcast(&a, -1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    FAILS(MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_MINLOC, MPI_COMM_WORLD), MPI_ERR_OP);
    FAILS(MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD), MPI_ERR_OP);
    std::vector<int> counts(z(size_), -1);
    FAILS(MPI_Reduce_scatter(&a, &b, counts.data(), MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_COUNT);
    FAILS(MPI_Allgatherv(&a, 1, MPI_INT, &b, counts.data(), counts.data(), MPI_INT, MPI_COMM_WORLD),
          MPI_ERR_COUNT);
    MPI_Op sum = MPI_SUM;
    FAILS(MPI_Op_free(&sum), MPI_ERR_OP);
    int commutes = 1;
    MPI_Op_commutative(MPI_REPLACE, &commutes);
    CHECK(commutes == 0);
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    noncontiguous();
    operations();
    for (const int count : {1, 500, 50000}) same_on_all(count);
    refused();
    if (size_ > 1) {
        const Groups groups;
        for (int side = 0; side < 2; ++side)
            for (int root = 0; root < groups.size_of(side); ++root) between_groups_rooted(groups, side, root);
        between_groups_all(groups);
    }
    session.end("collectives");
    return 0;
}
