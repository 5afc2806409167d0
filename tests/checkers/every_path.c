/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: every_path, with two ranks, under a memory checker
 * Moves data of 1 byte to 4 MiB on every path into memory that was never written before, and branches on
 * each received byte: a checker that considers one uninitialized reports it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, other;
static long wrong;
static const MPI_Comm world = MPI_COMM_WORLD;

static unsigned char pattern(int from, size_t i) {
    return (unsigned char)(i * 7 + (size_t)from * 31 + i / 251 + 1);
}

static unsigned char* filled(size_t n) {
    unsigned char* p = malloc(n);
    for (size_t i = 0; i < n; ++i) p[i] = pattern(rank, i);
    return p;
}

/* Every step-th byte received from this rank. */
static void check(const unsigned char* p, size_t n, size_t step, int from) {
    for (size_t i = 0; i < n; ++i)
        if (p[i * step] != pattern(from, i)) ++wrong;
}

static void messages(size_t n) {
    unsigned char *out = filled(n), *in = malloc(n);
    MPI_Sendrecv(out, (int)n, MPI_BYTE, other, 1, in, (int)n, MPI_BYTE, other, 1, world, MPI_STATUS_IGNORE);
    check(in, n, 1, other);
    free(in);
    in = malloc(n); /* one direction: the sender is free to copy cooperatively */
    if (rank == 0) {
        MPI_Send(out, (int)n, MPI_BYTE, 1, 2, world);
    } else {
        MPI_Recv(in, (int)n, MPI_BYTE, 0, 2, world, MPI_STATUS_IGNORE);
        check(in, n, 1, 0);
    }
    free(in);
    free(out);
}

/* Noncontiguous on one side, or on both. */
static void datatypes(size_t n) {
    enum { block = 64 };
    if (n < block) return;
    MPI_Datatype gaps;
    MPI_Type_vector((int)(n / block), block, 2 * block, MPI_BYTE, &gaps);
    MPI_Type_commit(&gaps);
    const size_t used = n / block * block;
    for (int both = 0; both < 2; ++both) {
        unsigned char *out = calloc(2, n), *in = malloc(2 * n);
        for (size_t i = 0; i < used; ++i)
            out[both ? i / block * 2 * block + i % block : i] = pattern(rank, i);
        MPI_Sendrecv(out, both ? 1 : (int)used, both ? gaps : MPI_BYTE, other, 3, in, 1, gaps, other, 3,
                     world, MPI_STATUS_IGNORE);
        for (size_t i = 0; i < used; ++i)
            if (in[i / block * 2 * block + i % block] != pattern(other, i)) ++wrong;
        free(in);
        free(out);
    }
    MPI_Type_free(&gaps);
}

static void one_sided(size_t n) {
    unsigned char *memory = malloc(2 * n), *out = filled(n), *in = malloc(n);
    for (size_t i = 0; i < n; ++i)
        memory[i] = pattern(rank, i); /* the second half is written by the other rank */
    MPI_Win win;
    MPI_Win_create(memory, (MPI_Aint)(2 * n), 1, MPI_INFO_NULL, world, &win);
    MPI_Win_fence(0, win);
    MPI_Put(out, (int)n, MPI_BYTE, other, (MPI_Aint)n, (int)n, MPI_BYTE, win);
    MPI_Get(in, (int)n, MPI_BYTE, other, 0, (int)n, MPI_BYTE, win);
    MPI_Win_fence(0, win);
    check(memory + n, n, 1, other);
    check(in, n, 1, other);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, other, 0, win);
    MPI_Accumulate(out, (int)n, MPI_BYTE, other, (MPI_Aint)n, (int)n, MPI_BYTE, MPI_REPLACE, win);
    MPI_Win_unlock(other, win);
    MPI_Barrier(world);
    check(memory + n, n, 1, other);
    MPI_Win_free(&win);
    free(in);
    free(out);
    free(memory);
}

static void collectives(size_t n) {
    unsigned char *out = filled(n), *in = malloc(2 * n), *sum = malloc(n);
    if (rank == 0)
        MPI_Bcast(out, (int)n, MPI_BYTE, 0, world);
    else
        MPI_Bcast(sum, (int)n, MPI_BYTE, 0, world);
    if (rank != 0) check(sum, n, 1, 0);
    MPI_Allgather(out, (int)n, MPI_BYTE, in, (int)n, MPI_BYTE, world);
    check(in, n, 1, 0);
    check(in + n, n, 1, 1);
    free(sum);
    sum = malloc(n);
    for (int root = -1; root < 2; ++root) {
        if (root < 0)
            MPI_Allreduce(out, sum, (int)n, MPI_BYTE, MPI_BXOR, world);
        else
            MPI_Reduce(out, sum, (int)n, MPI_BYTE, MPI_BXOR, root, world);
        if (root >= 0 && root != rank) continue;
        for (size_t i = 0; i < n; ++i)
            if (sum[i] != (pattern(0, i) ^ pattern(1, i))) ++wrong;
    }
    free(in);
    in = malloc(2 * n);
    unsigned char* both = malloc(2 * n);
    for (size_t i = 0; i < n; ++i) both[i] = both[n + i] = pattern(rank, i);
    MPI_Alltoall(both, (int)n, MPI_BYTE, in, (int)n, MPI_BYTE, world);
    check(in + (size_t)other * n, n, 1, other);
    free(both);
    free(sum);
    free(in);
    free(out);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    other = 1 - rank;
    for (size_t n = 1; n <= (size_t)4 << 20; n *= 8) {
        for (int round = 0; round < (n >= (size_t)1 << 18 ? 3 : 1); ++round) messages(n);
        datatypes(n);
        one_sided(n);
        collectives(n);
    }
    MPI_Finalize();
    if (wrong != 0) printf("%ld wrong bytes\n", wrong);
    if (rank == 0) printf("every_path: ok\n");
    return wrong != 0;
}
