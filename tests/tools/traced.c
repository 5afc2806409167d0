/* SPDX-FileCopyrightText: 2026 the ZipMPI authors */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Four ranks with known messages and waits. 41 messages: see the comments. With an argument: as many pairs of
 * calls more. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

/* Sleeps, so that the waiting ranks get a CPU also on a busy machine. */
static void compute(double seconds) {
    const struct timespec time = {0, (long)(seconds * 1e9)};
    nanosleep(&time, NULL);
}

int main(int argc, char** argv) {
    int rank, value = 0, flag = 0, data[4] = {0, 0, 0, 0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) compute(0.05); /* a late sender: 1 message */
    if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 2) MPI_Ssend(&value, 1, MPI_INT, 3, 6, MPI_COMM_WORLD); /* a late receiver: 1 message */
    if (rank == 3) compute(0.05);
    if (rank == 3) MPI_Recv(&value, 1, MPI_INT, 2, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 2) compute(0.03); /* three ranks wait for rank 2 */
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);

    /* all to all by nonblocking calls: 12 messages */
    MPI_Request requests[6];
    int n = 0;
    for (int peer = 0; peer < 4; ++peer)
        if (peer != rank)
            MPI_Irecv(&data[peer], 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &requests[n++]);
    for (int peer = 0; peer < 4; ++peer)
        if (peer != rank) MPI_Isend(&rank, 1, MPI_INT, peer, 7, MPI_COMM_WORLD, &requests[n++]);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);

    /* a ring by persistent requests, twice: 8 messages */
    const int right = (rank + 1) % 4, left = (rank + 3) % 4;
    MPI_Recv_init(&value, 1, MPI_INT, left, 8, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&rank, 1, MPI_INT, right, 8, MPI_COMM_WORLD, &requests[1]);
    for (int round = 0; round < 2; ++round) {
        MPI_Startall(2, requests);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);

    /* rings on a duplicate with reversed ranks and on MPI_COMM_WORLD, equal tags: 8 messages */
    MPI_Comm reversed, pair;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Sendrecv(&rank, 1, MPI_INT, right, 9, &value, 1, MPI_INT, left, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&rank, 1, MPI_INT, (4 - rank) % 4, 9, &value, 1, MPI_INT, (6 - rank) % 4, 9, reversed,
                 MPI_STATUS_IGNORE);

    /* two pairs, in different order of creation and use: 4 messages, tested and waited for */
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
    int me;
    MPI_Comm_rank(pair, &me);
    MPI_Irecv(&value, 1, MPI_INT, 1 - me, 1, pair, &requests[0]);
    MPI_Isend(&rank, 1, MPI_INT, 1 - me, 1, pair, &requests[1]);
    while (!flag) MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
    /* matched probes in a ring: 4 messages; MPI_PROC_NULL: none */
    MPI_Message message;
    MPI_Isend(&rank, 1, MPI_INT, right, 10, MPI_COMM_WORLD, &requests[0]);
    MPI_Mprobe(MPI_ANY_SOURCE, 10, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    /* to itself on MPI_COMM_SELF by waitany and waitsome: rank 3, 3 messages */
    if (rank == 3) {
        int index, count, indices[2];
        for (int i = 0; i < 3; ++i) MPI_Irecv(&data[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]);
        for (int i = 0; i < 3; ++i) MPI_Send(&value, 1, MPI_INT, 0, i, MPI_COMM_SELF);
        MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE);
        MPI_Wait(&requests[(index + 1) % 3], MPI_STATUS_IGNORE);
        MPI_Waitsome(3, requests, &count, indices, MPI_STATUSES_IGNORE);
    }
    const int more = argc > 1 ? atoi(argv[1]) : 0;
    for (int i = 0; i < more; ++i) {
        if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, 11, MPI_COMM_WORLD);
        if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&pair);
    MPI_Comm_free(&reversed);
    MPI_Finalize();
    return 0;
}
