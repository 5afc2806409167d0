// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Grids, graphs and distributed graphs: queries, neighbors, invalid arguments, and duplication.
#include "check.hpp"

#include <algorithm>

namespace {

void dimensions() {
    const struct {
        int n, ndims, expected[4];
    } cases[] = {{6, 2, {3, 2}},      {7, 2, {7, 1}},  {12, 3, {3, 2, 2}},      {64, 3, {4, 4, 4}},
                 {1, 3, {1, 1, 1}},   {36, 2, {6, 6}}, {120, 3, {6, 5, 4}},     {1024, 4, {8, 8, 4, 4}},
                 {5040, 2, {72, 70}}, {997, 1, {997}}, {30030, 3, {35, 33, 26}}};
    for (const auto& c : cases) {
        int dims[4] = {};
        CHECK(MPI_Dims_create(c.n, c.ndims, dims) == MPI_SUCCESS);
        CHECK(portable_ || std::equal(dims, dims + c.ndims, c.expected));
    }
    int dims[3] = {0, 3, 0};
    MPI_Dims_create(24, 3, dims);
    CHECK(dims[0] == 4 && dims[1] == 3 && dims[2] == 2);
    int wrong[2] = {5, 0};
    FAILS(MPI_Dims_create(24, 2, wrong), MPI_ERR_DIMS);
    int big[6] = {};
    CHECK(MPI_Dims_create(735134400, 6, big) == MPI_SUCCESS); // the number with the most divisors below 10^9
    long product = 1;
    for (const int d : big) product *= d;
    CHECK(product == 735134400);
}

void check_grid(MPI_Comm grid, const int dims[2], const int periods[2]) {
    int kind = 0;
    int n = 0;
    MPI_Topo_test(grid, &kind);
    MPI_Cartdim_get(grid, &n);
    CHECK(kind == MPI_CART && n == 2);
    int got[3][2];
    MPI_Cart_get(grid, 2, got[0], got[1], got[2]);
    CHECK(std::equal(dims, dims + 2, got[0]) && std::equal(periods, periods + 2, got[1]));
    int rank = 0;
    int coords[2];
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, coords);
    CHECK(std::equal(coords, coords + 2, got[2]) && rank == coords[0] * dims[1] + coords[1]);
    int same = -1;
    MPI_Cart_rank(grid, coords, &same);
    CHECK(same == rank);
    int from = 0;
    int to = 0;
    MPI_Cart_shift(grid, 0, 1, &from, &to); // not periodic
    CHECK(to == (coords[0] + 1 < dims[0] ? rank + dims[1] : MPI_PROC_NULL));
    CHECK(from == (coords[0] > 0 ? rank - dims[1] : MPI_PROC_NULL));
    MPI_Cart_shift(grid, 1, -2, &from, &to); // periodic, negative displacement
    CHECK(to == coords[0] * dims[1] + (coords[1] - 2 + 2 * dims[1]) % dims[1]);
    FAILS(MPI_Cart_shift(grid, 2, 1, &from, &to), MPI_ERR_DIMS);
    const int outside[2] = {dims[0], 0};
    FAILS(MPI_Cart_rank(grid, outside, &same), MPI_ERR_ARG);
    const int around[2] = {0, -1};
    CHECK(MPI_Cart_rank(grid, around, &same) == MPI_SUCCESS && same == dims[1] - 1);
}

void grids() {
    int dims[2] = {};
    const int periods[2] = {0, 1};
    MPI_Dims_create(size_, 2, dims);
    MPI_Comm grid = MPI_COMM_NULL;
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid) == MPI_SUCCESS);
    check_grid(grid, dims, periods);
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(grid, &copy);
    check_grid(copy, dims, periods);
    MPI_Comm row = MPI_COMM_NULL;
    const int keep_second[2] = {0, 1};
    MPI_Cart_sub(copy, keep_second, &row);
    int n = 0;
    int coords[2];
    int there[1];
    int rank = 0;
    MPI_Comm_size(row, &n);
    MPI_Comm_rank(row, &rank);
    CHECK(n == dims[1]);
    MPI_Comm_rank(copy, &n);
    MPI_Cart_coords(copy, n, 2, coords);
    MPI_Cart_coords(row, rank, 1, there);
    CHECK(there[0] == coords[1]);
    MPI_Comm point = MPI_COMM_NULL;
    const int keep_none[2] = {0, 0};
    MPI_Cart_sub(copy, keep_none, &point);
    MPI_Cartdim_get(point, &n);
    CHECK(n == 0);
    for (MPI_Comm* c : {&grid, &copy, &row, &point}) MPI_Comm_free(c);
    // a smaller grid leaves processes without a rank
    const int one[1] = {1};
    MPI_Cart_create(MPI_COMM_WORLD, 1, one, periods, 0, &grid);
    CHECK((grid == MPI_COMM_NULL) == (rank_ > 0));
    if (grid != MPI_COMM_NULL) MPI_Comm_free(&grid);
    const int many[1] = {size_ + 1};
    FAILS(MPI_Cart_create(MPI_COMM_WORLD, 1, many, periods, 0, &grid), MPI_ERR_DIMS);
    FAILS(MPI_Cartdim_get(MPI_COMM_WORLD, &n), MPI_ERR_TOPOLOGY);
}

// A ring in which every rank also has rank 0 as a neighbor.
void graphs() {
    std::vector<int> index;
    std::vector<int> edges;
    for (int r = 0; r < size_; ++r) {
        edges.push_back((r + 1) % size_);
        edges.push_back(0);
        index.push_back(static_cast<int>(edges.size()));
    }
    MPI_Comm graph = MPI_COMM_NULL;
    CHECK(MPI_Graph_create(MPI_COMM_WORLD, size_, index.data(), edges.data(), 0, &graph) == MPI_SUCCESS);
    int kind = 0;
    int nodes = 0;
    int count = 0;
    MPI_Topo_test(graph, &kind);
    MPI_Graphdims_get(graph, &nodes, &count);
    CHECK(kind == MPI_GRAPH && nodes == size_ && count == 2 * size_);
    std::vector<int> got_index(index.size());
    std::vector<int> got_edges(edges.size());
    MPI_Graph_get(graph, nodes, count, got_index.data(), got_edges.data());
    CHECK(got_index == index && got_edges == edges);
    int neighbors[2];
    MPI_Graph_neighbors_count(graph, rank_, &count);
    MPI_Graph_neighbors(graph, rank_, 2, neighbors);
    CHECK(count == 2 && neighbors[0] == (rank_ + 1) % size_ && neighbors[1] == 0);
    MPI_Comm_free(&graph);
    edges[0] = size_;
    FAILS(MPI_Graph_create(MPI_COMM_WORLD, size_, index.data(), edges.data(), 0, &graph), MPI_ERR_ARG);
}

struct Lists {
    std::vector<int> sources, destinations, source_weights, destination_weights;
};

Lists lists_of(MPI_Comm comm) {
    int in = 0;
    int out = 0;
    int weighted = 0;
    CHECK(MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted) == MPI_SUCCESS && weighted != 0);
    Lists l;
    l.sources.resize(static_cast<size_t>(in));
    l.source_weights.resize(static_cast<size_t>(in));
    l.destinations.resize(static_cast<size_t>(out));
    l.destination_weights.resize(static_cast<size_t>(out));
    MPI_Dist_graph_neighbors(comm, in, l.sources.data(), l.source_weights.data(), out, l.destinations.data(),
                             l.destination_weights.data());
    return l;
}

// Edges from every rank to all lower ones, with weights that identify them; specified by the last rank alone.
void distributed_graphs() {
    std::vector<int> sources;
    std::vector<int> degrees;
    std::vector<int> destinations;
    std::vector<int> weights;
    for (int r = 0; rank_ == size_ - 1 && r < size_; ++r) {
        sources.push_back(r);
        degrees.push_back(r);
        for (int d = 0; d < r; ++d) {
            destinations.push_back(d);
            weights.push_back(100 * r + d);
        }
    }
    MPI_Comm graph = MPI_COMM_NULL;
    CHECK(MPI_Dist_graph_create(MPI_COMM_WORLD, static_cast<int>(sources.size()), sources.data(),
                                degrees.data(), destinations.data(),
                                weights.empty() ? MPI_WEIGHTS_EMPTY : weights.data(), MPI_INFO_NULL, 1,
                                &graph) == MPI_SUCCESS);
    int rank = -1; // reordering may have changed it
    MPI_Comm_rank(graph, &rank);
    const Lists general = lists_of(graph);
    CHECK(static_cast<int>(general.sources.size()) == size_ - 1 - rank);
    CHECK(static_cast<int>(general.destinations.size()) == rank);
    for (size_t i = 0; i < general.sources.size(); ++i)
        CHECK(general.source_weights[i] == 100 * general.sources[i] + rank);
    for (size_t i = 0; i < general.destinations.size(); ++i)
        CHECK(general.destination_weights[i] == 100 * rank + general.destinations[i]);
    MPI_Comm adjacent = MPI_COMM_NULL;
    const auto in = static_cast<int>(general.sources.size());
    const auto out = static_cast<int>(general.destinations.size());
    MPI_Dist_graph_create_adjacent(
        graph, in, general.sources.data(), in == 0 ? MPI_WEIGHTS_EMPTY : general.source_weights.data(), out,
        general.destinations.data(), out == 0 ? MPI_WEIGHTS_EMPTY : general.destination_weights.data(),
        MPI_INFO_NULL, 0, &adjacent);
    const Lists again = lists_of(adjacent);
    CHECK(again.sources == general.sources && again.destinations == general.destinations);
    CHECK(again.source_weights == general.source_weights);
    MPI_Comm_free(&graph);
    MPI_Comm_free(&adjacent);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &rank_, MPI_UNWEIGHTED, 1, &rank_, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &graph);
    int n = 0;
    int weighted = 1;
    MPI_Dist_graph_neighbors_count(graph, &n, &n, &weighted);
    CHECK(weighted == 0);
    MPI_Comm_free(&graph);
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    dimensions();
    grids();
    graphs();
    distributed_graphs();
    session.end("topologies");
}
