// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Half of a round trip of a noncontiguous message, in microseconds: 64 or 128 blocks of equal length,
// separated by holes of that length (vector_64, vector_128), and as many bytes contiguously (contiguous).
// what=bandwidth: windows of such messages from rank 0 to rank 1 instead, in MB/s (vector_64_bandwidth, ...).
// Sizes are the transferred bytes; below the number of blocks each byte is one block.
#include "bench.h"

static char *out, *in;
static int in_windows;

static int has_name(const struct point* point, const char* name) {
    return !strncmp(point->name, name, strlen(name));
}

static int blocks_of(const struct point* point) {
    const int blocks = has_name(point, "vector_64") ? 64 : has_name(point, "vector_128") ? 128 : 1;
    return point->size > (size_t)blocks ? blocks : point->size > 0 ? (int)point->size : 1;
}

static void round_trips(int rank, MPI_Datatype type) {
    if (rank == 0) MPI_Send(out, 1, type, 1, 1, MPI_COMM_WORLD);
    MPI_Recv(in, 1, type, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(out, 1, type, 0, 1, MPI_COMM_WORLD);
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
        if (in_windows)
            one_window(bench->rank, out, in, 1, type);
        else
            round_trips(bench->rank, type);
    }
    const double took = MPI_Wtime() - begin;
    const int received = bench->rank == 1 || (bench->rank == 0 && !in_windows);
    if (received && block && (in[0] != stamp || in[last] != stamp)) fail("wrong data in a vector");
    MPI_Type_free(&type);
    return took;
}

static void report_point(const struct point* point) {
    const double seconds = point->per_iteration[0];
    if (in_windows)
        report(point->name, point->size, window * (double)point->size / seconds / 1e6, "MB/s");
    else
        report(point->name, point->size, seconds / 2 * 1e6, "us");
}

int main(int argc, char** argv) {
    static const char* const names[2][3] = {
        {"contiguous", "vector_64", "vector_128"},
        {"contiguous_bandwidth", "vector_64_bandwidth", "vector_128_bandwidth"}};
    struct bench bench = begin_bench(&argc, &argv);
    require_ranks(&bench, 2);
    out = touched_memory(2 * largest_message);
    in = touched_memory(2 * largest_message);
    in_windows = !strcmp(text_option(argc, argv, "what", "latency"), "bandwidth");
    for (int i = 0; i < 3; ++i) add_sizes(&bench, names[in_windows][i], argc, argv);
    measure(&bench, batch);
    for (int i = 0; i < bench.points && bench.rank == 0; ++i) report_point(&bench.point[i]);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
