// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// crossings OPERATION TIMES BYTES: one collective so many times; gateways count what crosses.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int ranks, count;
static char *in, *out;

static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void bcast(void) { MPI_Bcast(in, count, MPI_CHAR, 0, MPI_COMM_WORLD); }
static void reduce(void) { MPI_Reduce(out, in, count, MPI_CHAR, MPI_MAX, 0, MPI_COMM_WORLD); }
static void allreduce(void) { MPI_Allreduce(out, in, count, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD); }
static void gather(void) { MPI_Gather(out, count, MPI_CHAR, in, count, MPI_CHAR, 0, MPI_COMM_WORLD); }
static void scatter(void) { MPI_Scatter(in, count, MPI_CHAR, out, count, MPI_CHAR, 0, MPI_COMM_WORLD); }
static void allgather(void) { MPI_Allgather(out, count, MPI_CHAR, in, count, MPI_CHAR, MPI_COMM_WORLD); }
static void alltoall(void) { MPI_Alltoall(out, count, MPI_CHAR, in, count, MPI_CHAR, MPI_COMM_WORLD); }
static void reduce_scatter(void) {
    MPI_Reduce_scatter_block(out, in, count, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD);
}
static void scan(void) { MPI_Scan(out, in, count, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD); }

static const struct {
    const char* name;
    void (*call)(void);
} operations[] = {{"barrier", barrier},
                  {"bcast", bcast},
                  {"reduce", reduce},
                  {"allreduce", allreduce},
                  {"gather", gather},
                  {"scatter", scatter},
                  {"allgather", allgather},
                  {"alltoall", alltoall},
                  {"reduce_scatter", reduce_scatter},
                  {"scan", scan}};

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int times = argc > 2 ? atoi(argv[2]) : 1;
    count = argc > 3 ? atoi(argv[3]) : 8;
    in = calloc((size_t)ranks, (size_t)count);
    out = calloc((size_t)ranks, (size_t)count);
    for (size_t i = 0; argc > 1 && i < sizeof operations / sizeof *operations; ++i)
        for (int k = 0; k < times && strcmp(operations[i].name, argv[1]) == 0; ++k) operations[i].call();
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
