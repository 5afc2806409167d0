// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// usage: one_collective barrier|broadcast|allreduce|alltoall [BYTES [CALLS]]
// One nonblocking collective of all ranks, whose messages are then in the communication matrix (matrix.file);
// or CALLS of them, one after the other: prints the microseconds of one, the median of nine batches, and the
// context switches of all ranks in one.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { batches = 9 };
static double *in, *out;

static void call(const char* name, int count) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (strcmp(name, "barrier") == 0) MPI_Ibarrier(MPI_COMM_WORLD, &request);
    if (strcmp(name, "broadcast") == 0) MPI_Ibcast(in, count, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
    if (strcmp(name, "allreduce") == 0)
        MPI_Iallreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    if (strcmp(name, "alltoall") == 0)
        MPI_Ialltoall(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int compare(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double context_switches(void) {
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)(use.ru_nvcsw + use.ru_nivcsw);
}

static void measure(const char* name, int count, int calls) {
    double us[batches];
    int rank = 0;
    double switches = 0;
    const double before = context_switches();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int b = 0; b < batches; ++b) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        for (int i = 0; i < calls; ++i) call(name, count);
        MPI_Barrier(MPI_COMM_WORLD);
        us[b] = 1e6 * (MPI_Wtime() - begin) / calls;
    }
    const double own = (context_switches() - before) / calls / batches;
    MPI_Reduce(&own, &switches, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    qsort(us, batches, sizeof us[0], compare);
    if (rank == 0)
        printf("us %.3f least %.3f most %.3f switches %.1f\n", us[batches / 2], us[0], us[batches - 1],
               switches);
}

int main(int argc, char** argv) {
    int size = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char* const name = argc > 1 ? argv[1] : "barrier";
    const int bytes = argc > 2 ? atoi(argv[2]) : 0;
    const int count = bytes / (int)sizeof(double);
    in = calloc((size_t)size * (size_t)count + 1, sizeof(double));
    out = calloc((size_t)size * (size_t)count + 1, sizeof(double));
    if (in == NULL || out == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    if (argc > 3)
        measure(name, count, atoi(argv[3]));
    else
        call(name, count);
    MPI_Finalize();
    free(in);
    free(out);
    return 0;
}
