// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Fraction of a nonblocking exchange hidden behind computation: the exchange alone, then with a computation
// of equal length between start and wait. 100 %hidden: the exchange cost nothing; 0: it made no progress
// before the wait.
#include "bench.h"

static char *out, *in;
static double computing; // seconds per iteration

static double batch(const struct bench* bench, const struct point* point, long iterations, char stamp) {
    MPI_Request requests[2];
    const int peer = 1 - bench->rank, bytes = (int)point->size;
    mark(out, point->size, stamp);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (long i = 0; i < iterations; ++i) {
        MPI_Irecv(in, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[1]);
        if (computing > 0) compute(computing);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    const double took = MPI_Wtime() - begin;
    check(in, point->size, stamp);
    return took;
}

int main(int argc, char** argv) {
    struct bench bench = begin_bench(&argc, &argv);
    if (bench.ranks != 2) fail("overlap is measured between two ranks");
    out = touched_memory(largest_message);
    in = touched_memory(largest_message);
    size_t sizes[max_points];
    const int count = message_sizes(argc, argv, sizes, max_points);
    for (int i = 0; i < count; ++i) {
        bench.points = 0;
        add_point(&bench, "overlap", sizes[i]);
        computing = 0;
        measure(&bench, batch);
        double alone = bench.point[0].per_iteration[0];
        MPI_Bcast(&alone, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        computing = alone;
        measure(&bench, batch);
        const double hidden = 2 - bench.point[0].per_iteration[0] / alone;
        if (bench.rank == 0)
            report("overlap", sizes[i], 100 * (hidden < 0 ? 0 : hidden > 1 ? 1 : hidden), "%hidden");
    }
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
