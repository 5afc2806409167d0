// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Prints when this rank entered main and when it left MPI_Init, in nanoseconds of the real-time clock, for
// comparison with the time at which the launcher was started.
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char** argv) {
    const long long in_main = now();
    MPI_Init(&argc, &argv);
    const long long after_init = now();
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("startup %d %d %lld %lld\n", rank, size, in_main, after_init);
    MPI_Finalize();
    return 0;
}
