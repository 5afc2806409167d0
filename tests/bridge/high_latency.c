// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// high_latency RANKS_PER_CLUSTER TIMES: microseconds of a message, a barrier, a broadcast and an allreduce of
// 8 bytes, over all ranks and within a cluster: median and minimum. The root of the broadcast alternates
// between the first and the last rank, so that each broadcast waits for the previous one.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static MPI_Comm comm;
static int last, turn;
static double value, sum;

static void barrier(void) { MPI_Barrier(comm); }
static void bcast(void) { MPI_Bcast(&value, 1, MPI_DOUBLE, turn++ % 2 == 0 ? 0 : last, comm); }
static void allreduce(void) { MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, comm); }

// Half a round trip between the first and the last rank.
static void message(void) {
    static int rank = -1;
    if (rank < 0) MPI_Comm_rank(comm, &rank);
    if (rank == (turn % 2 == 0 ? 0 : last)) MPI_Send(&value, 1, MPI_DOUBLE, last - rank, 0, comm);
    if (rank == (turn % 2 == 0 ? last : 0))
        MPI_Recv(&value, 1, MPI_DOUBLE, last - rank, 0, comm, MPI_STATUS_IGNORE);
    ++turn;
}

static int compare(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

// Averages four calls: a rank that starts late may find the first call already completed by the others, or
// leave it early, but not the next ones.
static void measure(const char* name, void (*call)(void), int times, int speaks) {
    enum { calls = 4 };
    double* taken = calloc((size_t)times, sizeof *taken);
    for (int i = -1; i < times; ++i) {
        const double begin = MPI_Wtime();
        for (int k = 0; k < calls; ++k) call();
        if (i >= 0) taken[i] = (MPI_Wtime() - begin) / calls * 1e6;
    }
    qsort(taken, (size_t)times, sizeof *taken, compare);
    if (speaks) printf("%s %.1f %.1f\n", name, taken[times / 2], taken[0]);
    free(taken);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int each = argc > 1 ? atoi(argv[1]) : 2, times = argc > 2 ? atoi(argv[2]) : 20;
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm cluster;
    MPI_Comm_split(MPI_COMM_WORLD, rank / each, 0, &cluster);
    comm = MPI_COMM_WORLD;
    MPI_Comm_size(comm, &size);
    last = size - 1;
    measure("message", message, times, rank == 0);
    measure("barrier", barrier, times, rank == 0);
    measure("bcast", bcast, times, rank == 0);
    measure("allreduce", allreduce, times, rank == 0);
    comm = cluster;
    last = each - 1;
    measure("near_barrier", barrier, times, rank == 0);
    measure("near_bcast", bcast, times, rank == 0);
    measure("near_allreduce", allreduce, times, rank == 0);
    MPI_Comm_free(&cluster);
    MPI_Finalize();
    return 0;
}
