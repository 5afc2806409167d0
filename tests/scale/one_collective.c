// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// usage: one_collective barrier|broadcast|allreduce|alltoall [BYTES]
// One nonblocking collective of all ranks, whose messages are then in the communication matrix (matrix.file).
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
    MPI_Request request = MPI_REQUEST_NULL;
    int size = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char* const name = argc > 1 ? argv[1] : "barrier";
    const int bytes = argc > 2 ? atoi(argv[2]) : 0;
    const int count = bytes / (int)sizeof(double);
    double* const in = calloc((size_t)size * (size_t)count + 1, sizeof(double));
    double* const out = calloc((size_t)size * (size_t)count + 1, sizeof(double));
    if (in == NULL || out == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    if (strcmp(name, "barrier") == 0) MPI_Ibarrier(MPI_COMM_WORLD, &request);
    if (strcmp(name, "broadcast") == 0) MPI_Ibcast(in, count, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
    if (strcmp(name, "allreduce") == 0)
        MPI_Iallreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    if (strcmp(name, "alltoall") == 0)
        MPI_Ialltoall(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    free(in);
    free(out);
    return 0;
}
