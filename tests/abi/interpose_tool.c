/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A profiling tool: its own MPI_Comm_rank in front of the library's, which it calls by its PMPI_ name.
 */
#include <mpi.h>

int tool_calls = 0;

int MPI_Comm_rank(MPI_Comm comm, int* rank) {
    ++tool_calls;
    return PMPI_Comm_rank(comm, rank);
}
