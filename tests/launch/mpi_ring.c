/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Built with the compilers of other MPIs, started by ZipMPI's mpiexec. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One more process by MPI_Comm_spawn, with the same program. */
static void spawn(char* program) {
    char child[] = "child";
    char* arguments[] = {child, NULL};
    MPI_Comm children = MPI_COMM_NULL;
    int number = 0;
    MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    MPI_Comm_remote_size(children, &number);
    printf("spawned %d\n", number);
    MPI_Comm_disconnect(&children);
}

int main(int argc, char** argv) {
    int rank, size, sum = 0, token = 0;
    const char* what = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(what, "abort") == 0 && rank == 1) MPI_Abort(MPI_COMM_WORLD, 7);
    if (strcmp(what, "version") == 0) {
        char text[MPI_MAX_LIBRARY_VERSION_STRING];
        int length = 0;
        MPI_Get_library_version(text, &length);
        puts(text);
    }
    if (strcmp(what, "spawn") == 0) spawn(argv[0]);
    if (strcmp(what, "child") == 0) {
        MPI_Comm parent = MPI_COMM_NULL;
        MPI_Comm_get_parent(&parent);
        MPI_Comm_disconnect(&parent);
    }
    if (strcmp(what, "leave") == 0 && rank == 1) exit(0);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 3, &token, 1, MPI_INT, (rank + size - 1) % size, 3,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(&token, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d of %d sum %d\n", rank, size, sum);
    MPI_Finalize();
    return 0;
}
