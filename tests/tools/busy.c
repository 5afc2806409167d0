/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: busy SECONDS
 * Ranks in every state of `zipmpi top`: 0 is outside MPI with three unexpected messages, 1 waits for 0, 2 and
 * 3 exchange messages continuously, all others sleep in a receive from the previous rank. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { tag_never = 5, tag_unexpected = 6, tag_rate = 7, tag_end = 8, unexpected = 3 };

static void leave_unexpected(int rank) {
    int flag, x = rank;
    if (rank == 3)
        for (int i = 0; i < unexpected; ++i) MPI_Send(&x, 1, MPI_INT, 0, tag_unexpected, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 100 && rank == 0; ++i) /* received into the unexpected queue, where they stay */
        MPI_Iprobe(1, tag_never, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static void exchange(int other, double until) {
    int x = 0, y = 0, more = 1;
    while (more) { /* rank 2 decides, so that both do equally many */
        x = MPI_Wtime() < until;
        MPI_Sendrecv(&x, 1, MPI_INT, other, tag_rate, &y, 1, MPI_INT, other, tag_rate, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        more = other == 3 ? x : y;
    }
}

int main(int argc, char** argv) {
    int rank, size, x = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    leave_unexpected(rank);
    const double seconds = argc > 1 ? atof(argv[1]) : 5;
    if (rank == 0) {
        usleep((useconds_t)(seconds * 1e6));
        for (int i = 0; i < unexpected; ++i)
            MPI_Recv(&x, 1, MPI_INT, 3, tag_unexpected, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&x, 1, MPI_INT, 1, tag_never, MPI_COMM_WORLD);
        for (int i = 4; i < size; ++i) MPI_Send(&x, 1, MPI_INT, i, tag_end, MPI_COMM_WORLD);
    } else if (rank == 1)
        MPI_Recv(&x, 1, MPI_INT, 0, tag_never, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (rank < 4)
        exchange(5 - rank, MPI_Wtime() + seconds);
    else
        MPI_Recv(&x, 1, MPI_INT, 0, tag_end, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
