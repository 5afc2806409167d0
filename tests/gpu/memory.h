/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Buffers of the tests in host memory or in the memory of the stub driver, and checks. */
#ifndef ZIPMPI_GPU_MEMORY_H
#define ZIPMPI_GPU_MEMORY_H

#include "stub_driver.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s: check failed: %s\n", __FILE__, __LINE__, subject, #condition);       \
            MPI_Abort(MPI_COMM_WORLD, 3);                                                                    \
        }                                                                                                    \
    } while (0)

static const char* subject = "start"; /* what is being tested */
static const struct StubDriver* driver;
static int rank, size;

static void load_driver(const char* path) {
    void* const library = dlopen(path, RTLD_NOW);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    driver = ((StubDriverFunction*)dlsym(library, STUB_DRIVER_SYMBOL))();
}

static inline int class_of(int code) {
    int error_class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
    return error_class;
}

/* The test begins; the driver is loaded before MPI_Init, or, with the argument "late", after it. */
static void begin_test(int argc, char** argv) {
    const int late = argc > 2 && strcmp(argv[2], "late") == 0;
    if (argc < 2) exit(2);
    if (!late) load_driver(argv[1]);
    MPI_Init(&argc, &argv);
    if (late) load_driver(argv[1]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

#endif
