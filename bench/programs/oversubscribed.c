// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// More ranks than cores: a barrier, an allreduce of 8 bytes, and the half round trip of ranks 0 and 1 while
// all others wait in a barrier. Microseconds; sizes are bytes.
#include "bench.h"

static double barriers(const struct bench* bench, const struct point* point, long iterations, char stamp) {
    (void)bench, (void)point, (void)stamp;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (long i = 0; i < iterations; ++i) MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime() - begin;
}

static double sums(const struct bench* bench, const struct point* point, long iterations, char stamp) {
    (void)point;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (long i = 0; i < iterations; ++i) {
        double local = bench->rank + stamp, sum = 0;
        MPI_Allreduce(&local, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (sum != bench->ranks * (stamp + (bench->ranks - 1) / 2.0)) fail("wrong sum");
    }
    return MPI_Wtime() - begin;
}

static double ping_pong_batch(const struct bench* bench, const struct point* point, long iterations,
                              char stamp) {
    char out[8], in[8];
    MPI_Barrier(MPI_COMM_WORLD);
    double took = 0;
    if (bench->rank < 2) took = ping_pong(bench->rank, out, in, point->size, iterations, stamp);
    MPI_Barrier(MPI_COMM_WORLD);
    return took;
}

static void run_point(struct bench* bench, const char* name, size_t size, double divisor,
                      batch_function batch) {
    bench->points = 0;
    add_point(bench, name, size);
    measure(bench, batch);
    if (bench->rank == 0) report(name, size, bench->point[0].per_iteration[0] / divisor * 1e6, "us");
}

int main(int argc, char** argv) {
    struct bench bench = begin_bench(&argc, &argv);
    require_ranks(&bench, 2);
    run_point(&bench, "barrier", 0, 1, barriers);
    run_point(&bench, "allreduce", 8, 1, sums);
    run_point(&bench, "oversubscribed_ping_pong", 8, 2, ping_pong_batch);
    MPI_Finalize();
    return 0;
}
