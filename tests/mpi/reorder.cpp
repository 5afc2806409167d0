// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Whether reordering has an effect: four ranks bind themselves to two CPUs round robin, so that consecutive
// ranks are on different ones. Topologies in which neighbors communicate must bring them together again, and
// every rank must get the neighbors of its new rank.
#include "check.hpp"

#include <algorithm>
#include <sched.h>

namespace {

int cpu_ = -1; // of this process

// Before MPI starts, so that it finds the process bound. Returns false if there are too few CPUs.
bool bind_round_robin() {
    const char* rank = std::getenv("PMI_RANK");
    cpu_set_t allowed;
    if (rank == nullptr || sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2)
        return false;
    int left = std::atoi(rank) % 2;
    for (cpu_ = 0; !CPU_ISSET(cpu_, &allowed) || left > 0; ++cpu_)
        if (CPU_ISSET(cpu_, &allowed)) --left;
    CPU_ZERO(&allowed);
    CPU_SET(cpu_, &allowed);
    return sched_setaffinity(0, sizeof allowed, &allowed) == 0;
}

// The CPU of each rank of a communicator in which this process has the given rank.
std::vector<int> cpus_by_rank(int rank) {
    const int mine[2] = {rank, cpu_};
    std::vector<int> all(2 * static_cast<size_t>(size_));
    MPI_Allgather(mine, 2, MPI_INT, all.data(), 2, MPI_INT, MPI_COMM_WORLD);
    std::vector<int> cpus(static_cast<size_t>(size_), -1);
    for (size_t i = 0; i < all.size(); i += 2) {
        CHECK(all[i] >= 0 && all[i] < size_ && cpus[static_cast<size_t>(all[i])] == -1);
        cpus[static_cast<size_t>(all[i])] = all[i + 1];
    }
    return cpus;
}

int count_line_crossings(const std::vector<int>& cpus) {
    int n = 0;
    for (size_t r = 1; r < cpus.size(); ++r) n += cpus[r] != cpus[r - 1];
    return n;
}

void lines() {
    const int dims[1] = {size_};
    const int periods[1] = {0};
    int mapped = -1;
    CHECK(MPI_Cart_map(MPI_COMM_WORLD, 1, dims, periods, &mapped) == MPI_SUCCESS);
    CHECK(count_line_crossings(cpus_by_rank(mapped)) == 1);
    MPI_Comm line = MPI_COMM_NULL;
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 1, &line) == MPI_SUCCESS);
    int rank = -1;
    MPI_Comm_rank(line, &rank);
    CHECK(rank == mapped);
    CHECK((rank == 0) == (rank_ == 0));
    MPI_Comm_free(&line);

    std::vector<int> index;
    std::vector<int> edges;
    for (int r = 0; r < size_; ++r) {
        if (r > 0) edges.push_back(r - 1);
        if (r + 1 < size_) edges.push_back(r + 1);
        index.push_back(static_cast<int>(edges.size()));
    }
    CHECK(MPI_Graph_map(MPI_COMM_WORLD, size_, index.data(), edges.data(), &mapped) == MPI_SUCCESS);
    CHECK(count_line_crossings(cpus_by_rank(mapped)) == 1);
    const int one = 1;
    CHECK(MPI_Cart_map(MPI_COMM_WORLD, 1, &one, periods, &mapped) == MPI_SUCCESS);
    CHECK(mapped == (rank_ == 0 ? 0 : MPI_UNDEFINED)); // no neighbor to be near to
}

// One process may call it without the others.
void on_self() {
    if (rank_ == size_ - 1) {
        const int dims[1] = {size_};
        const int periods[1] = {0};
        int mapped = -1;
        CHECK(MPI_Cart_map(MPI_COMM_WORLD, 1, dims, periods, &mapped) == MPI_SUCCESS);
        CHECK(mapped >= 0 && mapped < size_);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

// Pairs 2k, 2k + 1 communicate much; every rank sends a little to its successor. Weights identify the edge.
// Returns the number of outgoing edges of this process.
int check_pairs(MPI_Comm graph, bool weighted) {
    constexpr int most = 4;
    int rank = -1;
    MPI_Comm_rank(graph, &rank);
    const std::vector<int> cpus = cpus_by_rank(rank);
    CHECK(cpus[static_cast<size_t>(rank)] == cpus[static_cast<size_t>(rank ^ 1)]);
    const int next = (rank + 1) % size_;
    const int previous = (rank + size_ - 1) % size_;
    int ins = 0;
    int outs = 0;
    int has_weights = -1;
    MPI_Dist_graph_neighbors_count(graph, &ins, &outs, &has_weights);
    CHECK(ins == outs && outs <= most && has_weights == (weighted ? 1 : 0));
    int in[most];
    int in_weights[most];
    int out[most];
    int out_weights[most];
    CHECK(MPI_Dist_graph_neighbors(graph, ins, in, in_weights, outs, out, out_weights) == MPI_SUCCESS);
    CHECK(out[0] == (rank ^ 1) && out[1] == next);
    if (weighted) CHECK(out_weights[0] == 1000 + rank && out_weights[1] == 1 + rank);
    for (int i = 0; i < ins; ++i) {
        CHECK(in[i] == (rank ^ 1) || in[i] == previous);
        if (weighted) CHECK(in_weights[i] == 1000 + in[i] || in_weights[i] == 1 + in[i]);
    }
    const int mine[most] = {rank, rank, rank, rank};
    int heard[most] = {};
    MPI_Neighbor_alltoall(mine, 1, MPI_INT, heard, 1, MPI_INT, graph);
    for (int i = 0; i < ins; ++i) CHECK(heard[i] == in[i]);
    return outs;
}

void pairs() {
    const int next = (rank_ + 1) % size_;
    const int previous = (rank_ + size_ - 1) % size_;
    const int degree = 2;
    const int out[2] = {rank_ ^ 1, next};
    const int out_weights[2] = {1000 + rank_, 1 + rank_};
    MPI_Comm graph = MPI_COMM_NULL;
    CHECK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank_, &degree, out, out_weights, MPI_INFO_NULL, 1,
                                &graph) == MPI_SUCCESS);
    CHECK(check_pairs(graph, true) == degree);
    MPI_Comm_free(&graph);
    const int in[2] = {rank_ ^ 1, previous};
    const int in_weights[2] = {1000 + (rank_ ^ 1), 1 + previous};
    CHECK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, in, in_weights, 2, out, out_weights,
                                         MPI_INFO_NULL, 1, &graph) == MPI_SUCCESS);
    CHECK(check_pairs(graph, true) == degree);
    MPI_Comm_free(&graph);
    // without weights the pairs count twice only if they are listed twice
    const int thrice[4] = {rank_ ^ 1, next, rank_ ^ 1, rank_ ^ 1};
    const int many = 4;
    CHECK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank_, &many, thrice, MPI_UNWEIGHTED, MPI_INFO_NULL, 1,
                                &graph) == MPI_SUCCESS);
    CHECK(check_pairs(graph, false) == many);
    MPI_Comm_free(&graph);
}

} // namespace

int main(int argc, char** argv) {
    const bool bound = bind_round_robin();
    const Session session(&argc, &argv);
    int all_bound = bound ? 1 : 0; // on hosts that share CPUs some ranks may have had only one to begin with
    MPI_Allreduce(MPI_IN_PLACE, &all_bound, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (all_bound != 0 && size_ == 4 && on_one_host()) { // CPUs of different hosts are not near each other
        on_self();
        lines();
        pairs();
    }
    session.end("reorder");
}
