/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: mixes first|later|module FILE
 * A program of another MPI library that opens one more file: an MPI library before or after MPI_Init, or a
 * module (module.c) that has its own view of the predefined handles. Prints "ok" from rank 0. */
#include "check.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank;

static void* open_file(const char* path, int mode) {
    void* file = dlopen(path, mode);
    if (file == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(3);
    }
    return file;
}

int main(int argc, char** argv) {
    const char* action = argv[1];
    if (strcmp(action, "first") == 0) open_file(argv[2], RTLD_NOW | RTLD_LOCAL);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(action, "later") == 0) {
        int (*init)(int*, char***) = dlsym(open_file(argv[2], RTLD_NOW | RTLD_LOCAL), "MPI_Init");
        CHECK(init != NULL);
        init(&argc, &argv);
    }
    if (strcmp(action, "module") == 0) {
        void* module = open_file(argv[2], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
        MPI_Comm (*compute)(MPI_Comm, MPI_Datatype, MPI_Op) = dlsym(module, "compute");
        CHECK(compute != NULL && compute(MPI_COMM_WORLD, MPI_INT, MPI_SUM) == MPI_COMM_NULL);
    }
    MPI_Finalize();
    if (rank == 0) printf("ok\n");
    return 0;
}
