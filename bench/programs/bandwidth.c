// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Bandwidth in MB/s over message sizes: windows of 64 messages, each window acknowledged by an empty message.
// ways=2 sends in both directions at once and counts both. memory=alloc takes the buffers from MPI_Alloc_mem,
// name= renames the result. All messages of a window use one send buffer and one receive buffer, as is usual
// for this measurement.
#include "bench.h"

static char *out, *in;

static void bidirectional_window(int rank, int bytes) {
    MPI_Request requests[2 * window];
    for (int i = 0; i < window; ++i)
        MPI_Irecv(in, bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < window; ++i)
        MPI_Isend(out, bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, &requests[window + i]);
    MPI_Waitall(2 * window, requests, MPI_STATUSES_IGNORE);
}

static int directions = 1;

static double batch(const struct bench* bench, const struct point* point, long iterations, char stamp) {
    mark(out, point->size, stamp);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (long i = 0; i < iterations; ++i) {
        if (directions == 2)
            bidirectional_window(bench->rank, (int)point->size);
        else
            one_window(bench->rank, out, in, (int)point->size, MPI_BYTE);
    }
    const double took = MPI_Wtime() - begin;
    if (directions == 2 || bench->rank == 1) check(in, point->size, stamp);
    return took;
}

int main(int argc, char** argv) {
    struct bench bench = begin_bench(&argc, &argv);
    if (bench.ranks != 2) fail("bandwidth is measured between two ranks");
    directions = (int)number_option(argc, argv, "ways", 1);
    const int from_mpi = !strcmp(text_option(argc, argv, "memory", "private"), "alloc");
    if (from_mpi) {
        MPI_Alloc_mem(largest_message, MPI_INFO_NULL, &out);
        MPI_Alloc_mem(largest_message, MPI_INFO_NULL, &in);
        memset(out, 0, largest_message);
        memset(in, 0, largest_message);
    } else {
        out = touched_memory(largest_message);
        in = touched_memory(largest_message);
    }
    const char* usual = directions == 2 ? "both_ways" : from_mpi ? "bandwidth_alloc_mem" : "bandwidth";
    const char* name = text_option(argc, argv, "name", usual);
    add_sizes(&bench, name, argc, argv);
    measure(&bench, batch);
    for (int i = 0; i < bench.points && bench.rank == 0; ++i) {
        const struct point* point = &bench.point[i];
        report(name, point->size, directions * window * (double)point->size / point->per_iteration[0] / 1e6,
               "MB/s");
    }
    if (from_mpi) {
        MPI_Free_mem(out);
        MPI_Free_mem(in);
    } else {
        free(out);
        free(in);
    }
    MPI_Finalize();
    return 0;
}
