/* SPDX-FileCopyrightText: 2026 the ZipMPI authors */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flood MESSAGES BYTES [SECONDS]: rank 0 sends messages to rank 2, which receives them only after all have
 * been sent. Rank 1 sends messages of 16 KiB to rank 3 at a steady rate, before and during the flood; rank 3
 * prints the messages per second before and during the flood, and its duration.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { paced = 16 << 10, per_second = 500, flow = 1, last = 2, go = 3 };

static void sleep_until(double when) {
    const double left = when - MPI_Wtime();
    if (left <= 0) return;
    const struct timespec time = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9)};
    nanosleep(&time, NULL);
}

/* Runs until a stop message arrives, or for the given seconds. */
static void stream(double seconds, int from_whom) {
    static char bytes[paced];
    MPI_Request over = MPI_REQUEST_NULL;
    int stop = 0;
    if (from_whom >= 0) MPI_Irecv(NULL, 0, MPI_BYTE, from_whom, go, MPI_COMM_WORLD, &over);
    const double begin = MPI_Wtime();
    for (int i = 0; !stop; ++i) {
        sleep_until(begin + (double)i / per_second);
        if (from_whom >= 0)
            MPI_Test(&over, &stop, MPI_STATUS_IGNORE);
        else
            stop = MPI_Wtime() - begin >= seconds;
        MPI_Send(bytes, paced, MPI_BYTE, 3, stop ? last : flow, MPI_COMM_WORLD);
    }
}

static double rate(void) {
    static char bytes[paced];
    const double begin = MPI_Wtime();
    int came = 0;
    MPI_Status status;
    do {
        MPI_Recv(bytes, paced, MPI_BYTE, 1, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        ++came;
    } while (status.MPI_TAG != last);
    return came / (MPI_Wtime() - begin);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int messages = argc > 1 ? atoi(argv[1]) : 1000;
    const int bytes = argc > 2 ? atoi(argv[2]) : 64 << 10;
    const double seconds = argc > 3 ? atof(argv[3]) : 1;
    char* buffer = calloc(1, (size_t)bytes + 1);
    double before = 0, meanwhile = 0;
    if (rank == 1) stream(seconds, -1);
    if (rank == 3) before = rate();
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    if (rank == 0) {
        for (int i = 0; i < messages; ++i) MPI_Send(buffer, bytes, MPI_BYTE, 2, flow, MPI_COMM_WORLD);
        MPI_Send(NULL, 0, MPI_BYTE, 2, last, MPI_COMM_WORLD);
    } else if (rank == 1) {
        stream(0, 2);
    } else if (rank == 2) {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, last, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE); /* the others are still unexpected messages */
        MPI_Send(NULL, 0, MPI_BYTE, 1, go, MPI_COMM_WORLD);
        for (int i = 0; i < messages; ++i)
            MPI_Recv(buffer, bytes, MPI_BYTE, 0, flow, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 3) {
        meanwhile = rate();
        printf("before %.1f meanwhile %.1f seconds %.2f\n", before, meanwhile, MPI_Wtime() - begin);
    }
    free(buffer);
    MPI_Finalize();
    return 0;
}
