// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Rank 0 sends short and long messages filled with one known text to the last rank; a sniffer on the link
// between the gateways searches for it.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char line[] = "only for the last rank. ";

static void fill(char* text, int bytes) {
    for (int i = 0; i < bytes; ++i) text[i] = line[(size_t)i % (sizeof line - 1)];
}

int main(int argc, char** argv) {
    enum { most = 1 << 20 };
    static const int sizes[] = {30, 1000, 65536, most};
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char* text = malloc(most);
    char* said = malloc(most);
    fill(said, most);
    for (int i = 0; i < 20; ++i) {
        const int bytes = sizes[i % 4];
        memset(text, 0, most);
        if (rank == 0) MPI_Send(said, bytes, MPI_CHAR, ranks - 1, i, MPI_COMM_WORLD);
        if (rank != ranks - 1) continue;
        MPI_Recv(text, most, MPI_CHAR, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (memcmp(text, said, (size_t)bytes) != 0) MPI_Abort(MPI_COMM_WORLD, 4);
    }
    free(text);
    free(said);
    if (rank == 0) printf("whispered\n");
    MPI_Finalize();
    return 0;
}
