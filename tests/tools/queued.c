// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// 4 ranks. Rank 0 has posted receives without messages, an unexpected message from rank 1 and a send without
// receive; it prints its process id and sleeps.
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static char large[1 << 20];

int main(int argc, char** argv) {
    static const int keys[] = {1, 3, 0, 2};
    int rank = 0;
    char to[40];
    MPI_Comm mixed = MPI_COMM_NULL;
    MPI_Request requests[4];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, 0, keys[rank % 4], &mixed);
    MPI_Comm_set_name(mixed, "mixed");
    if (rank == 1) MPI_Send(to, 16, MPI_CHAR, 0, 8, MPI_COMM_WORLD);
    if (rank == 0) {
        int found = 0;
        MPI_Irecv(to, 40, MPI_CHAR, 1, 7, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(to, 20, MPI_CHAR, 2, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[1]);
        MPI_Irecv(to, 10, MPI_CHAR, MPI_ANY_SOURCE, 5, mixed, &requests[2]);
        MPI_Isend(large, sizeof large, MPI_CHAR, 2, 9, mixed, &requests[3]);
        while (!found) MPI_Iprobe(1, 8, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
        printf("%d\n", (int)getpid());
        fflush(stdout);
    }
    sleep(60);
    MPI_Abort(MPI_COMM_WORLD, 1);
    return 0;
}
