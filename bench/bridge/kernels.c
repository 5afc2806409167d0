// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Milliseconds of five small kernels with the communication patterns of the NAS benchmarks EP, MG, CG, IS and
// LU. The total problem size does not depend on the number of ranks. Each checks its result. Options: only=
// one of them, times= runs whose median counts.
#include "../programs/sample.h"
#include <math.h>
#include <mpi.h>
#include <stdint.h>

static int rank, ranks;

static void fail(const char* why) {
    fprintf(stderr, "kernels: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static uint64_t next_random(uint64_t* state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static double* doubles(size_t count) { return (double*)touched_memory(count * sizeof(double)); }

static void swap(double* out, int to, double* in, int from, int count) {
    MPI_Sendrecv(out, count, MPI_DOUBLE, to, 0, in, count, MPI_DOUBLE, from, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

// EP: every rank counts its own points in a circle; three reductions at the end.
static void ep(void) {
    const long points = 6000000 / ranks;
    uint64_t state = 88172645463325252U + (uint64_t)rank;
    double sums[3] = {0, 0, 0}, all[3];
    for (long i = 0; i < points; ++i) {
        const double x = (double)(next_random(&state) >> 11) / 9007199254740992.0;
        const double y = (double)(next_random(&state) >> 11) / 9007199254740992.0;
        sums[0] += x * x + y * y <= 1;
        sums[1] += x;
        sums[2] += y;
    }
    for (int i = 0; i < 3; ++i) MPI_Allreduce(&sums[i], &all[i], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (fabs(4 * all[0] / ((double)points * ranks) - M_PI) > 0.01) fail("EP: no circle");
}

// MG: cycles over grids of 64 planes that get coarser; ring neighbors exchange a plane in each direction on
// every grid, with a reduction of one number in each cycle.
static void mg(void) {
    enum { cycles = 10, side = 128, planes = 64 };
    double *up = doubles(side * side), *down = doubles(side * side), *halo = doubles(side * side);
    const int above = (rank + 1) % ranks, below = (rank - 1 + ranks) % ranks;
    double norm = 0;
    for (int c = 0; c < cycles; ++c) {
        for (int n = side; n >= 8; n /= 2) {
            const int plane = n * n, own = planes * n / side / ranks + 1;
            up[0] = down[plane - 1] = rank;
            swap(up, above, halo, below, plane);
            if (halo[0] != below) fail("MG: wrong plane from below");
            swap(down, below, halo, above, plane);
            if (halo[plane - 1] != above) fail("MG: wrong plane from above");
            for (int k = 0; k < own; ++k)
                for (int i = 1; i < plane - 1; ++i)
                    up[i] = 0.25 * (up[i - 1] + up[i + 1] + halo[i] + down[i]);
        }
        double part = 1;
        MPI_Allreduce(&part, &norm, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (norm != ranks) fail("MG: wrong norm");
    free(up), free(down), free(halo);
}

// CG: in each iteration parts of the vector go to the ranks 1, 2, 4 ... away, with two reductions.
static void cg(void) {
    enum { iterations = 25, length = 65536 };
    const int own = length / ranks;
    double *vector = doubles((size_t)own), *other = doubles((size_t)own);
    for (int i = 0; i < own; ++i) vector[i] = 1;
    double sum = 0;
    for (int k = 0; k < iterations; ++k) {
        for (int bit = 1; bit < ranks; bit *= 2) {
            swap(vector, rank ^ bit, other, rank ^ bit, own);
            for (int i = 0; i < own; ++i) vector[i] = 0.5 * (vector[i] + other[i]);
        }
        for (int turn = 0; turn < 2; ++turn) {
            double part = 0;
            for (int repeat = 0; repeat < 8; ++repeat)
                for (int i = 0; i < own; ++i) part += vector[i] * vector[i] / 8;
            MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        }
    }
    if (fabs(sum - (double)own * ranks) > 1e-6) fail("CG: wrong sum");
    free(vector), free(other);
}

// IS: keys go to the rank that owns their range: counts by MPI_Alltoall, keys by MPI_Alltoallv.
static void is(void) {
    enum { rounds = 5, keys = 1 << 19 };
    const int own = keys / ranks;
    uint64_t state = 1234567 + (uint64_t)rank;
    unsigned *key = (unsigned*)touched_memory(2 * sizeof(unsigned) * keys), *sorted = key + own,
             *got = key + 2 * own;
    int out[64] = {0}, in[64], out_at[64], in_at[64];
    for (int round = 0; round < rounds; ++round) {
        memset(out, 0, sizeof out);
        for (int i = 0; i < own; ++i) key[i] = (unsigned)next_random(&state) % (unsigned)ranks;
        for (int i = 0; i < own; ++i) ++out[key[i]];
        long local = own, all = 0;
        MPI_Allreduce(&local, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
        for (int r = 0, o = 0, n = 0; r < ranks; o += out[r], n += in[r], ++r) out_at[r] = o, in_at[r] = n;
        int at[64];
        memcpy(at, out_at, sizeof at);
        for (int i = 0; i < own; ++i) sorted[at[key[i]]++] = key[i];
        if (in_at[ranks - 1] + in[ranks - 1] > 2 * keys - 2 * own) fail("IS: too many keys for one rank");
        MPI_Alltoallv(sorted, out, out_at, MPI_UNSIGNED, got, in, in_at, MPI_UNSIGNED, MPI_COMM_WORLD);
        for (int i = 0; i < in_at[ranks - 1] + in[ranks - 1]; ++i)
            if (got[i] != (unsigned)rank) fail("IS: a key of another rank");
    }
    free(key);
}

// LU: a wave front through 64 planes from the first rank to the last and back, one row of each plane at a
// time.
static void lu(void) {
    enum { sweeps = 4, planes = 64, row = 320 };
    static double edge[row];
    const int work = 40 * row / ranks;
    for (int s = 0; s < 2 * sweeps; ++s) {
        const int from = s % 2 == 0 ? rank - 1 : rank + 1, to = s % 2 == 0 ? rank + 1 : rank - 1;
        for (int k = 0; k < planes; ++k) {
            edge[0] = 0;
            if (from >= 0 && from < ranks)
                MPI_Recv(edge, row, MPI_DOUBLE, from, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            edge[0] += 1;
            for (int i = 0; i < work; ++i) edge[1 + i % (row - 1)] = 0.5 * edge[1 + i % (row - 1)] + 0.25;
            if (to >= 0 && to < ranks) MPI_Send(edge, row, MPI_DOUBLE, to, k, MPI_COMM_WORLD);
        }
        if (edge[0] != (s % 2 == 0 ? rank + 1 : ranks - rank)) fail("LU: the wave front missed a rank");
    }
}

static const struct {
    const char* name;
    void (*run)(void);
} kernels[] = {{"ep", ep}, {"mg", mg}, {"cg", cg}, {"is", is}, {"lu", lu}};

static double milliseconds(void (*run)(void)) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    run();
    MPI_Barrier(MPI_COMM_WORLD);
    return (MPI_Wtime() - begin) * 1e3;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks < 2 || ranks > 64 || (ranks & (ranks - 1)) != 0) fail("use 2, 4, ... 64 ranks");
    const char* only = text_option(argc, argv, "only", "");
    int times = (int)number_option(argc, argv, "times", 5);
    if (times < 1 || times > max_sweeps) times = 1;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; ++i) {
        if (*only != 0 && strcmp(only, kernels[i].name) != 0) continue;
        double taken[max_sweeps];
        kernels[i].run(); // warm-up: establishes connections
        for (int k = 0; k < times; ++k) taken[k] = milliseconds(kernels[i].run);
        if (rank == 0) printf("kernel_%s %d %.3f ms\n", kernels[i].name, ranks, median(taken, times));
    }
    MPI_Finalize();
    return 0;
}
