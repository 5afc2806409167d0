/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A call before MPI_Init ("early") or after MPI_Finalize ("late") must end the program with a clear message.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
    int rank;
    if (argc > 1 && strcmp(argv[1], "late") == 0) {
        MPI_Init(&argc, &argv);
        MPI_Finalize();
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("still here\n");
    return 0;
}
