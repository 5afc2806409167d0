/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A profiling tool, built with the header of another MPI library. */
#include <mpi.h>
#include <stdio.h>

static int sends;

int MPI_Send(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    ++sends;
    return PMPI_Send(buffer, count, type, dest, tag, comm);
}

int MPI_Finalize(void) {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) printf("the tool saw %d sends\n", sends);
    return PMPI_Finalize();
}
