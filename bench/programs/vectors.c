// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Half of a round trip of a message with gaps, in microseconds: 64 or 128 blocks of equal length, as far
// apart as they are long (vector_64, vector_128), and the same number of bytes in one piece (contiguous).
// Sizes are the bytes that travel; fewer of them than blocks are one block each.
#include "bench.h"

static char *out, *in;

static int blocks_of(const struct point* point) {
    const int blocks = !strcmp(point->name, "vector_64") ? 64 : !strcmp(point->name, "vector_128") ? 128 : 1;
    return point->size > (size_t)blocks ? blocks : point->size > 0 ? (int)point->size : 1;
}

static double batch(const struct bench* bench, const struct point* point, long iterations, char stamp) {
    const int blocks = blocks_of(point), block = (int)point->size / blocks;
    const size_t last = block ? ((size_t)(blocks - 1) * 2 + 1) * (size_t)block - 1 : 0;
    MPI_Datatype type;
    MPI_Type_vector(blocks, block, 2 * block, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    out[0] = out[last] = stamp;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (long i = 0; i < iterations && bench->rank < 2; ++i) {
        if (bench->rank == 0) MPI_Send(out, 1, type, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(in, 1, type, 1 - bench->rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (bench->rank == 1) MPI_Send(out, 1, type, 0, 1, MPI_COMM_WORLD);
    }
    const double took = MPI_Wtime() - begin;
    if (bench->rank < 2 && block && (in[0] != stamp || in[last] != stamp)) fail("wrong data in a vector");
    MPI_Type_free(&type);
    return took;
}

int main(int argc, char** argv) {
    static const char* const names[] = {"contiguous", "vector_64", "vector_128"};
    struct bench bench = begin_bench(&argc, &argv);
    need_ranks(&bench, 2);
    out = touched_memory(2 * largest_message);
    in = touched_memory(2 * largest_message);
    for (int i = 0; i < 3; ++i) add_sizes(&bench, names[i], argc, argv);
    measure(&bench, batch);
    for (int i = 0; i < bench.points && bench.rank == 0; ++i)
        report(bench.point[i].name, bench.point[i].size, bench.point[i].per_iteration[0] / 2 * 1e6, "us");
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
