// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Small, medium and large messages around a ring while the node's memory is short (see short_memory.c). With
// the argument "return" errors are returned to the program, which prints the class and aborts the job with 5.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 300000 };
static char out[most], in[most];

static void check(int code, const char* call) {
    if (code == MPI_SUCCESS) return;
    int class;
    MPI_Error_class(code, &class);
    printf("%s: %s\n", call, class == MPI_ERR_NO_MEM ? "MPI_ERR_NO_MEM" : "another class");
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 5);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc > 1 && strcmp(argv[1], "return") == 0)
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    for (int round = 0; round < 6; ++round) {
        const int bytes[] = {8, 4000, most};
        const int n = bytes[round % 3];
        MPI_Request request;
        memset(out, rank + round, (size_t)n);
        check(MPI_Irecv(in, most, MPI_CHAR, previous, round, MPI_COMM_WORLD, &request), "MPI_Irecv");
        check(round < 3 ? MPI_Send(out, n, MPI_CHAR, next, round, MPI_COMM_WORLD)
                        : MPI_Ssend(out, n, MPI_CHAR, next, round, MPI_COMM_WORLD),
              "MPI_Send");
        check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
        if (in[0] != (char)(previous + round) || in[n - 1] != in[0]) MPI_Abort(MPI_COMM_WORLD, 6);
        check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
    }
    MPI_Finalize();
    return 0;
}
