// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One random collective of random_collectives.cpp: its parameters are drawn from a generator that is equal on
// all ranks, its result is compared with a simple model. The contribution of each rank is a function of its
// rank, so that each rank can compute its expected result.
#pragma once

#include <mpi.h>
#include <random>
#include <vector>

namespace random_collectives {

using Vector = std::vector<long>;

struct Settings {
    unsigned seed; // printed with an error
    int most;      // elements
};

enum Kind {
    barrier,
    bcast,
    gather,
    gatherv,
    scatter,
    scatterv,
    allgather,
    allgatherv,
    alltoall,
    alltoallv,
    alltoallw,
    reduce,
    allreduce,
    reduce_scatter,
    reduce_scatter_block,
    scan,
    exscan,
    kinds
};
enum CallForm { blocking, nonblocking, persistent };

// Composition of affine maps modulo a prime: associative, not commutative.
inline constexpr long prime = 65521;
long compose(long left, long right);

struct Operation {
    MPI_Op handle;
    long (*apply)(long, long);
};

struct CommContext {
    MPI_Comm comm = MPI_COMM_NULL;
    int rank = 0, size = 0;
};

class Collective {
  public:
    Collective(const Settings& settings, std::mt19937& random, const CommContext& place, const Operation& op,
               CallForm form, int number);
    void start();
    MPI_Request request = MPI_REQUEST_NULL;
    [[nodiscard]] int rounds() const { return form_ == persistent ? 3 : 1; }
    void prepare(int round);
    void verify() const;

  private:
    static size_t z(int n) { return static_cast<size_t>(n); }
    // Element i of the block from rank `from` to rank `to`.
    [[nodiscard]] long given(int from, int to, int i) const {
        const auto x = static_cast<unsigned long>(from) * 7919 + static_cast<unsigned long>(to) * 104729 +
                       static_cast<unsigned long>(i) * 31 + static_cast<unsigned long>(number_) * 17 +
                       static_cast<unsigned long>(round_) * 3;
        return static_cast<long>((x % prime) << 32 | ((x / 5 + 1) % prime));
    }
    [[nodiscard]] bool rooted() const {
        return kind_ == bcast || kind_ == reduce || (kind_ >= gather && kind_ <= scatterv);
    }
    [[nodiscard]] bool at_root() const { return place_.rank == root_; }
    void fill_sent();
    void expect();
    Vector fold(int first, int last, int to, int n) const;
    void call();
    void call_now();
    [[nodiscard]] const void* sent() const { return in_place_ ? MPI_IN_PLACE : sent_.data(); }

    unsigned seed_; // for reports
    CommContext place_;
    Operation op_;
    Kind kind_;
    CallForm form_;
    int number_;
    int round_ = 0;
    int root_;
    int count_;
    bool in_place_;
    std::vector<int> counts_, displs_;         // by rank
    std::vector<int> out_counts_, out_displs_; // alltoallv
    std::vector<int> in_bytes_, out_bytes_;
    std::vector<MPI_Datatype> types_;
    Vector sent_, got_, expected_;
};

} // namespace random_collectives
