/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls of the program go to the tool where the tool defines the function, otherwise to the library; calls by
 * the PMPI_ name never go to the tool.
 */
#include <mpi.h>
#include <stdio.h>

extern int tool_calls;

int main(int argc, char** argv) {
    int rank = -1, size = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_rank(MPI_COMM_SELF, &rank);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Finalize();
    if (tool_calls == 2 && rank == 0 && size == 1) return 0;
    printf("the tool saw %d calls, not 2; rank %d, size %d\n", tool_calls, rank, size);
    return 1;
}
