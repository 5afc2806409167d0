/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: exchange, with two ranks, compiled with clang -fsanitize=memory
 * Messages of 1 byte to 2 MiB. With TELL_SANITIZER the program declares the bytes that MPI has written, as
 * docs/guide/debugging.md advises; without it the sanitizer reports them. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef TELL_SANITIZER
#include <sanitizer/msan_interface.h>
#define WRITTEN(memory, size) __msan_unpoison(memory, size)
#else
#define WRITTEN(memory, size) ((void)0)
#endif

static long exchange(int rank, size_t n) {
    unsigned char *out = malloc(n), *in = malloc(n);
    long wrong = 0;
    for (size_t i = 0; i < n; ++i) out[i] = (unsigned char)(i + (size_t)rank);
    MPI_Sendrecv(out, (int)n, MPI_BYTE, 1 - rank, 0, in, (int)n, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    WRITTEN(in, n);
    for (size_t i = 0; i < n; ++i)
        if (in[i] != (unsigned char)(i + 1 - (size_t)rank)) ++wrong;
    free(in);
    free(out);
    return wrong;
}

int main(int argc, char** argv) {
    int rank;
    long wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    WRITTEN(&rank, sizeof rank);
    for (size_t n = 1; n <= 2 << 20; n *= 8) wrong += exchange(rank, n);
    MPI_Finalize();
    if (wrong == 0 && rank == 0) puts("exchange: ok");
    return wrong != 0;
}
