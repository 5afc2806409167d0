// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Fraction of a nonblocking collective hidden behind computation: the operation alone, then with a
// computation of equal length between start and wait. 100 %hidden: it cost nothing; 0: it made no progress
// before the wait. During the computation MPI_Test is called `tests=` times, as applications do. Ranks that
// move the bytes themselves can hide only waiting time, so there is a second result, beside_...: the
// microseconds that the operation adds to the computation. start_iallreduce and start_ialltoall are the
// microseconds of the starting call, which must not wait for other ranks.
#include "bench.h"

static char *out, *in;
static double computing; // seconds per iteration
static int tests, rank, ranks;
static double start_time; // sum over all iterations of a batch

static void start(const struct point* point, MPI_Request* request) {
    const double begin = MPI_Wtime();
    if (!strcmp(point->name, "overlap_iallreduce"))
        MPI_Iallreduce(out, in, (int)(point->size / sizeof(double)), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD,
                       request);
    else
        MPI_Ialltoall(out, (int)point->size, MPI_BYTE, in, (int)point->size, MPI_BYTE, MPI_COMM_WORLD,
                      request);
    start_time += MPI_Wtime() - begin;
}

static double batch(const struct bench* bench, const struct point* point, long iterations, char stamp) {
    (void)bench, (void)stamp;
    start_time = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (long i = 0; i < iterations; ++i) {
        MPI_Request request;
        int done = 0;
        start(point, &request);
        for (int k = 0; k <= tests && computing > 0; ++k) {
            compute(computing / (tests + 1));
            if (k < tests && !done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return MPI_Wtime() - begin;
}

static void run_point(struct bench* bench, const char* name, const char* start_name, const char* beside_name,
                      size_t size) {
    bench->points = 0;
    add_point(bench, name, size);
    computing = 0;
    measure(bench, batch);
    double alone = bench->point[0].per_iteration[0];
    if (rank == 0) report(start_name, size, start_time / (double)bench->point[0].iterations * 1e6, "us");
    MPI_Bcast(&alone, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    computing = alone;
    measure(bench, batch);
    const double beside = bench->point[0].per_iteration[0] - computing, hidden = 1 - beside / alone;
    if (rank == 0) report(beside_name, size, beside * 1e6, "us");
    if (rank == 0) report(name, size, 100 * (hidden < 0 ? 0 : hidden > 1 ? 1 : hidden), "%hidden");
}

int main(int argc, char** argv) {
    struct bench bench = begin_bench(&argc, &argv);
    rank = bench.rank, ranks = bench.ranks;
    tests = (int)number_option(argc, argv, "tests", 4);
    size_t sizes[max_points], most = 0;
    const int count = message_sizes(argc, argv, sizes, max_points);
    for (int i = 0; i < count; ++i)
        if (sizes[i] > most) most = sizes[i];
    out = touched_memory(most * (size_t)ranks);
    in = touched_memory(most * (size_t)ranks);
    for (int i = 0; i < count; ++i) {
        run_point(&bench, "overlap_iallreduce", "start_iallreduce", "beside_iallreduce", sizes[i]);
        run_point(&bench, "overlap_ialltoall", "start_ialltoall", "beside_ialltoall", sizes[i]);
    }
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
