// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The job to be killed: ring, allreduce and a long message, repeated for the given milliseconds. Every rank
// prints "done" before it exits.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { most = 40000 };
static int out[most], in[most];

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const double end = MPI_Wtime() + (argc > 1 ? atof(argv[1]) : 50) / 1000;
    int rank, size, more = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; more != 0; ++round) {
        const int count = round % 8 == 7 ? most : round % 8 * 100 + 1;
        MPI_Sendrecv(out, count, MPI_INT, (rank + 1) % size, 1, in, most, MPI_INT, (rank + size - 1) % size,
                     1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        const int mine = rank != 0 || MPI_Wtime() < end;
        MPI_Allreduce(&mine, &more, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    puts("done");
    return 0;
}
