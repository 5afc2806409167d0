/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Compiled as C and as C++ against an installation: sums the ranks, which fails if each rank is a singleton.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    int rank = -1, size = 0, sum = -1;
    const int wanted_size = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    if (size != wanted_size || sum != size * (size - 1) / 2) {
        printf("rank %d of %d (wanted %d), sum of ranks %d\n", rank, size, wanted_size, sum);
        return 1;
    }
    if (rank == 0) printf("hello from %d ranks\n", size);
    return 0;
}
