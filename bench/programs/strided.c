// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Half of a round trip of a vector of 64 and of 128 blocks that lie twice their length apart, and of the same
// bytes without gaps, in microseconds. Both sides use the vector.
#include "bench.h"
#include <string.h>

static char *out, *in;

static int blocks_of(const struct point* point) {
    if (strcmp(point->name, "strided_64") == 0) return 64;
    return strcmp(point->name, "strided_128") == 0 ? 128 : 0;
}

static double batch(const struct bench* bench, const struct point* point, long iterations, char stamp) {
    const int blocks = blocks_of(point), peer = 1 - bench->rank;
    const int length = blocks ? (int)point->size / blocks : (int)point->size;
    const size_t reach = blocks ? 2 * point->size - (size_t)length : point->size;
    MPI_Datatype type;
    MPI_Type_vector(blocks ? blocks : 1, length, 2 * length, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    mark(out, reach, stamp);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (long i = 0; i < iterations && bench->rank < 2; ++i) {
        if (bench->rank == 0) MPI_Send(out, 1, type, peer, 1, MPI_COMM_WORLD);
        MPI_Recv(in, 1, type, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (bench->rank == 1) MPI_Send(out, 1, type, peer, 1, MPI_COMM_WORLD);
    }
    const double took = MPI_Wtime() - begin;
    if (bench->rank < 2) check(in, reach, stamp);
    MPI_Type_free(&type);
    return took;
}

int main(int argc, char** argv) {
    struct bench bench = begin_bench(&argc, &argv);
    need_ranks(&bench, 2);
    out = touched_memory(2 * largest_message);
    in = touched_memory(2 * largest_message);
    add_sizes(&bench, "contiguous", argc, argv);
    add_sizes(&bench, "strided_64", argc, argv);
    add_sizes(&bench, "strided_128", argc, argv);
    measure(&bench, batch);
    for (int i = 0; i < bench.points && bench.rank == 0; ++i)
        report(bench.point[i].name, bench.point[i].size, bench.point[i].per_iteration[0] / 2 * 1e6, "us");
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
