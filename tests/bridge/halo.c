/* SPDX-FileCopyrightText: 2026 the ZipMPI authors */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * halo ROWS COLUMNS ROUNDS BYTES: each rank of a grid exchanges BYTES with its four neighbors and checks the
 * received data.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { sides = 4 };

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 5 || atoi(argv[1]) * atoi(argv[2]) != size) MPI_Abort(MPI_COMM_WORLD, 2);
    const int rows = atoi(argv[1]), columns = atoi(argv[2]), rounds = atoi(argv[3]), bytes = atoi(argv[4]);
    const int row = rank / columns, column = rank % columns;
    const int neighbors[sides] = {
        row > 0 ? rank - columns : MPI_PROC_NULL, row + 1 < rows ? rank + columns : MPI_PROC_NULL,
        column > 0 ? rank - 1 : MPI_PROC_NULL, column + 1 < columns ? rank + 1 : MPI_PROC_NULL};
    unsigned char* out = malloc((size_t)bytes + 1);
    unsigned char* in[sides];
    for (int i = 0; i < sides; ++i) in[i] = malloc((size_t)bytes + 1);
    for (int round = 0; round < rounds; ++round) {
        MPI_Request all[2 * sides];
        memset(out, (rank + round) % 256, (size_t)bytes);
        for (int i = 0; i < sides; ++i) {
            MPI_Irecv(in[i], bytes, MPI_BYTE, neighbors[i], 0, MPI_COMM_WORLD, &all[i]);
            MPI_Isend(out, bytes, MPI_BYTE, neighbors[i], 0, MPI_COMM_WORLD, &all[sides + i]);
        }
        MPI_Waitall(2 * sides, all, MPI_STATUSES_IGNORE);
        for (int i = 0; i < sides; ++i)
            for (int at = 0; neighbors[i] != MPI_PROC_NULL && at < bytes; ++at)
                if (in[i][at] != (neighbors[i] + round) % 256) MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (rank == 0) printf("halo: ok\n");
    free(out);
    for (int i = 0; i < sides; ++i) free(in[i]);
    MPI_Finalize();
    return 0;
}
