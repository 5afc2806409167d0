// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Conjugate gradients with a sparse matrix in blocks on a grid of ranks, with the exchanges of NAS CG: sums
// over a row of the grid by exchanges with ranks at distances 1, 2, 4..., then one with the transposed rank.
// Results, microseconds of an iteration by rows of the matrix: cg_messages, and the same with one-sided
// operations: cg_post_start and cg_flags (exchange.h). The solution is compared with the known one, and the
// residuals of the three are equal. The number of ranks must be a power of two. Options: n= rows,
// iterations=.
#include "exchange.h"

#include <math.h>

enum { half_width = 8 }; // entries of a row on each side of the diagonal

static struct exchanger x;
static int own_rank, down, across, row, column, steps, n, rows, columns;
static double *p, *q, *r, *z, *w; // vectors: of the columns of this rank; w: of its rows

static int stride_of(int k) { return 1 + k * (n / (2 * half_width + 3)); }

static double element(int i, int j) { // symmetric
    const unsigned low = (unsigned)(i < j ? i : j), high = (unsigned)(i < j ? j : i);
    return (double)((low * 2654435761U + high * 40503U) % 1000U) / 1000;
}

// w := the part of A p in this block, its entries given by their distance to the diagonal.
static void multiply_block(void) {
    const int first_row = row * rows, first = column * columns;
    for (int i = 0; i < rows; ++i) {
        const int here = first_row + i;
        double sum = here >= first && here < first + columns ? (2 * half_width + 1) * p[here - first] : 0;
        for (int k = 0; k < 2 * half_width; ++k) {
            const int step = k < half_width ? stride_of(k) : n - stride_of(k - half_width);
            const int j = (here + step) % n;
            if (j >= first && j < first + columns) sum += element(here, j) * p[j - first];
        }
        w[i] = sum;
    }
}

static void exchange(int number, double* out, size_t words) {
    begin_exchange(&x, &number, 1, &out, words);
    finish_exchange(&x, own_rank, &number, 1);
}

static void sum_over_row(double* values, size_t words) {
    for (int s = 0; s < steps; ++s) {
        exchange(s, values, words);
        const double* other = received(&x, s);
        for (size_t i = 0; i < words; ++i) values[i] += other[i];
    }
}

// q := A p
static void multiply(void) {
    multiply_block();
    sum_over_row(w, (size_t)rows);
    double* out = w + (across == down ? 0 : column % 2 * columns);
    if (x.channel[steps].partner == own_rank) {
        memcpy(q, out, sizeof *q * (size_t)columns);
        return;
    }
    exchange(steps, out, (size_t)columns);
    memcpy(q, received(&x, steps), sizeof *q * (size_t)columns);
}

static double dot(const double* a, const double* b) {
    double sum = 0;
    for (int i = 0; i < columns; ++i) sum += a[i] * b[i];
    sum_over_row(&sum, 1);
    return sum;
}

// Solves A z = A (1, 1, ...); returns the square of the last residual.
static double solve(int iterations, double* seconds) {
    for (int i = 0; i < columns; ++i) p[i] = 1;
    multiply();
    for (int i = 0; i < columns; ++i) z[i] = 0, r[i] = p[i] = q[i];
    double rho = dot(r, r);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = host_time();
    for (int k = 0; k < iterations; ++k) {
        multiply();
        const double alpha = rho / dot(p, q), before = rho;
        for (int i = 0; i < columns; ++i) z[i] += alpha * p[i], r[i] -= alpha * q[i];
        rho = dot(r, r);
        for (int i = 0; i < columns; ++i) p[i] = r[i] + rho / before * p[i];
    }
    *seconds = elapsed_over_ranks(begin, host_time()) / iterations;
    for (int i = 0; i < columns; ++i)
        if (fabs(z[i] - 1) > 1e-3) fail("the solution is wrong");
    return rho;
}

// Rows of the grid are powers of two; it is square, or twice as wide as high.
static void distribute(int ranks) {
    for (down = 1; down * down * 4 <= ranks; down *= 2) {
    }
    across = ranks / down;
    if (down * across != ranks || (across != down && across != 2 * down) || (down & (down - 1)) != 0)
        fail("the number of ranks is not a power of two");
    row = own_rank / across;
    column = own_rank % across;
    rows = n / down;
    columns = n / across;
    if (n % across != 0 || columns < 2 * half_width + 3)
        fail("n= is too small or not a multiple of the ranks");
    for (steps = 0; 1 << steps < across; ++steps)
        x.channel[steps] = (struct channel){.partner = row * across + (column ^ 1 << steps), .remote = steps};
    const int wide = across / down; // 1 or 2
    const int transposed = column / wide * across + wide * row + column % wide;
    x.channel[steps] = (struct channel){.partner = transposed, .remote = steps};
}

static double* vector(int words) { return (double*)(void*)touched_memory(sizeof(double) * (size_t)words); }

int main(int argc, char** argv) {
    struct bench bench = begin_bench(&argc, &argv);
    const int iterations = (int)number_option(argc, argv, "iterations", 25);
    double took[method_count][max_sweeps], residual[method_count];
    own_rank = bench.rank;
    n = (int)number_option(argc, argv, "n", 4096);
    distribute(bench.ranks);
    p = vector(columns), q = vector(columns), r = vector(columns), z = vector(columns), w = vector(rows);
    open_exchanger(&x, (size_t)rows);
    for (int i = 0; i < bench.sweeps; ++i)
        for (int method = 0; method < method_count; ++method) {
            begin_method(&x, (enum method)method);
            residual[method] = solve(iterations, &took[method][i]);
            end_method(&x);
            if (residual[method] != residual[0]) fail("two methods differ in their residuals");
        }
    for (int method = 0; method < method_count && bench.rank == 0; ++method) {
        char name[32];
        snprintf(name, sizeof name, "cg_%s", method_names[method]);
        report(name, (size_t)n, 1e6 * median(took[method], bench.sweeps), "us");
    }
    MPI_Win_free(&x.win);
    free(p), free(q), free(r), free(z), free(w);
    MPI_Finalize();
    return 0;
}
