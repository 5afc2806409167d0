/* SPDX-FileCopyrightText: 2026 the ZipMPI authors */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * goodput SECONDS [BYTES]: the first rank sends messages to the last one, four at a time; the last rank
 * prints the megabytes per second of every quarter of a second.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { window = 4 };

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const double seconds = argc > 1 ? atof(argv[1]) : 1;
    const int bytes = argc > 2 ? atoi(argv[2]) : 1 << 20;
    const int partner = rank == 0 ? size - 1 : 0;
    char* buffer[window];
    MPI_Request requests[window];
    for (int i = 0; i < window; ++i) {
        buffer[i] = calloc(1, (size_t)bytes);
        requests[i] = MPI_REQUEST_NULL;
    }
    const double begin = MPI_Wtime();
    int more = rank == 0 || rank == size - 1;
    for (int i = 0; rank == 0 && more; ++i) {
        MPI_Wait(&requests[i % window], MPI_STATUS_IGNORE);
        more = MPI_Wtime() - begin < seconds;
        MPI_Isend(buffer[i % window], bytes, MPI_BYTE, partner, !more, MPI_COMM_WORLD, &requests[i % window]);
    }
    double came = 0, last = begin;
    for (int i = 0; rank == size - 1 && i < window; ++i)
        MPI_Irecv(buffer[i], bytes, MPI_BYTE, partner, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; rank == size - 1 && more; ++i) {
        MPI_Status status;
        MPI_Wait(&requests[i % window], &status);
        came += bytes;
        more = status.MPI_TAG == 0;
        if (more)
            MPI_Irecv(buffer[i % window], bytes, MPI_BYTE, partner, MPI_ANY_TAG, MPI_COMM_WORLD,
                      &requests[i % window]);
        const double now = MPI_Wtime();
        if (now - last < 0.25) continue;
        printf("%.2f %.1f\n", now - begin, came / (now - last) * 1e-6);
        fflush(stdout);
        came = 0;
        last = now;
    }
    for (int i = 0; i < window; ++i) {
        if (rank != 0 && requests[i] != MPI_REQUEST_NULL) MPI_Cancel(&requests[i]);
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        free(buffer[i]);
    }
    MPI_Finalize();
    return 0;
}
