/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: failing_malloc NUMBER LEAST
 * MPI_Init in a process in which the NUMBER-th allocation of LEAST or more bytes fails. */
#include <errno.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Functions of the C library for programs that replace malloc. */
extern void* __libc_malloc(size_t bytes);                     // NOLINT(bugprone-reserved-identifier)
extern void* __libc_calloc(size_t count, size_t bytes);       // NOLINT(bugprone-reserved-identifier)
extern void* __libc_realloc(void* memory, size_t bytes);      // NOLINT(bugprone-reserved-identifier)
extern void* __libc_memalign(size_t alignment, size_t bytes); // NOLINT(bugprone-reserved-identifier)

static int wanted, seen;
static size_t least;

static int should_fail(size_t bytes) {
    if (wanted == 0 || bytes < least || ++seen != wanted) return 0;
    errno = ENOMEM;
    return 1;
}

void* malloc(size_t bytes) { return should_fail(bytes) ? NULL : __libc_malloc(bytes); }
void* calloc(size_t count, size_t bytes) {
    return should_fail(count * bytes) ? NULL : __libc_calloc(count, bytes);
}
void* realloc(void* memory, size_t bytes) {
    return should_fail(bytes) ? NULL : __libc_realloc(memory, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
    return should_fail(bytes) ? NULL : __libc_memalign(alignment, bytes);
}

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    least = (size_t)atoi(argv[2]);
    wanted = atoi(argv[1]);
    MPI_Init(&argc, &argv);
    const int refused = seen >= wanted;
    wanted = 0;
    MPI_Finalize();
    puts(refused ? "one was refused" : "none was refused");
    return 0;
}
