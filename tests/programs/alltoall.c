// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// All pairs of ranks exchange 8 bytes and then 1 KiB, every byte checked. Prints one line on rank 0.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char byte_of(int from, int to, int i) {
    return (unsigned char)(from * 31 + to * 17 + i * 7 + 1);
}

static int exchange(int rank, int size, int bytes) {
    unsigned char* out = malloc((size_t)size * (size_t)bytes);
    unsigned char* in = calloc((size_t)size, (size_t)bytes);
    int wrong = out == NULL || in == NULL;
    for (int r = 0; !wrong && r < size; ++r)
        for (int i = 0; i < bytes; ++i) out[(size_t)r * (size_t)bytes + (size_t)i] = byte_of(rank, r, i);
    if (!wrong) MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
    for (int r = 0; !wrong && r < size; ++r)
        for (int i = 0; i < bytes; ++i)
            wrong |= in[(size_t)r * (size_t)bytes + (size_t)i] != byte_of(r, rank, i);
    free(out);
    free(in);
    return wrong;
}

int main(int argc, char** argv) {
    int rank, size, wrong, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    wrong = exchange(rank, size, 8);
    wrong += exchange(rank, size, 1024);
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && all == 0) printf("alltoall: ok, %d ranks\n", size);
    MPI_Finalize();
    return all == 0 ? 0 : 3;
}
