// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// CPU time in percent of a core that rank 0 uses while it waits for a message that rank 1 sends after
// seconds= of sleep.
#define _POSIX_C_SOURCE 200809L
#include "bench.h"
#include <time.h>

static double processor_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char** argv) {
    const struct bench bench = begin_bench(&argc, &argv);
    require_ranks(&bench, 2);
    const double seconds = number_option(argc, argv, "seconds", 10);
    MPI_Barrier(MPI_COMM_WORLD);
    if (bench.rank == 1) {
        const struct timespec nap = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
        nanosleep(&nap, NULL);
        MPI_Send(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    } else if (bench.rank == 0) {
        const double begin = MPI_Wtime(), used = processor_seconds();
        MPI_Recv(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        report("blocked", 0, 100 * (processor_seconds() - used) / (MPI_Wtime() - begin), "%cpu");
    }
    MPI_Finalize();
    return 0;
}
