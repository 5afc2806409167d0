// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Multigrid cycles for a Poisson equation on a periodic grid in three dimensions; ranks exchange the borders
// of their parts with six neighbors on every level, as in NAS MG. Results, microseconds of a cycle by cells
// per side: mg_messages, mg_post_start and mg_flags (exchange.h) exchange one dimension after the other;
// mg_METHOD_together, without post and start, begins all dimensions before it waits for the first. The
// residual decreases and is equal in all of them. Options: n= cells per side, cycles=.
#include "exchange.h"

#include <math.h>

enum { max_levels = 12, smooth_sweeps = 2, coarse_sweeps = 16 };

struct grid {
    int side[3]; // cells of this rank, without the border
    double *u, *f, *r;
};

static struct exchanger x;
static struct grid grids[max_levels];
static int own_rank, dims[3], levels, together;
static double* borders[6];

static size_t stride(const struct grid* g, int d) {
    const size_t strides[] = {(size_t)(g->side[1] + 2) * (size_t)(g->side[2] + 2), (size_t)(g->side[2] + 2),
                              1};
    return strides[d];
}
static size_t cells(const struct grid* g) { return (size_t)(g->side[0] + 2) * stride(g, 0); }
static size_t cell(const struct grid* g, int i, int j, int k) {
    return (size_t)i * stride(g, 0) + (size_t)j * stride(g, 1) + (size_t)k;
}
static size_t border_words(const struct grid* g, int d) {
    return (size_t)g->side[(d + 1) % 3] * (size_t)g->side[(d + 2) % 3];
}

// Copies the border at this index of dimension d from or to a buffer.
static void copy_border(const struct grid* g, double* v, int d, int index, double* buffer, int out) {
    const int a = (d + 1) % 3, b = (d + 2) % 3;
    for (int i = 1; i <= g->side[a]; ++i)
        for (int j = 1; j <= g->side[b]; ++j) {
            double* c =
                v + (size_t)index * stride(g, d) + (size_t)i * stride(g, a) + (size_t)j * stride(g, b);
            if (out)
                *buffer++ = *c;
            else
                *c = *buffer++;
        }
}

// Channel 2 d leads to the lower neighbor in dimension d, 2 d + 1 to the upper one.
static void begin_borders(const struct grid* g, double* v, int d) {
    const int channels[2] = {2 * d, 2 * d + 1};
    double* const out[2] = {borders[2 * d], borders[2 * d + 1]};
    copy_border(g, v, d, 1, out[0], 1);
    copy_border(g, v, d, g->side[d], out[1], 1);
    if (dims[d] > 1) begin_exchange(&x, channels, 2, out, border_words(g, d));
}
static void finish_borders(const struct grid* g, double* v, int d) {
    const int channels[2] = {2 * d, 2 * d + 1};
    const int alone = dims[d] == 1; // neighbor of itself
    if (!alone) finish_exchange(&x, own_rank, channels, 2);
    copy_border(g, v, d, 0, alone ? borders[2 * d + 1] : received(&x, 2 * d), 0);
    copy_border(g, v, d, g->side[d] + 1, alone ? borders[2 * d] : received(&x, 2 * d + 1), 0);
}

static void update_borders(const struct grid* g, double* v) {
    for (int d = 0; d < 3; ++d) {
        begin_borders(g, v, d);
        if (!together) finish_borders(g, v, d);
    }
    for (int d = 0; d < 3 && together; ++d) finish_borders(g, v, d);
}

// r := f - A u
static void compute_residual(struct grid* g) {
    const size_t s0 = stride(g, 0), s1 = stride(g, 1);
    update_borders(g, g->u);
    for (int i = 1; i <= g->side[0]; ++i)
        for (int j = 1; j <= g->side[1]; ++j)
            for (int k = 1; k <= g->side[2]; ++k) {
                const size_t c = cell(g, i, j, k);
                const double* u = g->u + c;
                g->r[c] = g->f[c] - (6 * u[0] - u[-(long)s0] - u[s0] - u[-(long)s1] - u[s1] - u[-1] - u[1]);
            }
}

static void smooth(struct grid* g, int sweeps) {
    for (int s = 0; s < sweeps; ++s) {
        compute_residual(g);
        for (size_t c = 0; c < cells(g); ++c) g->u[c] += g->r[c] * (0.8 / 6);
    }
}

static void cycle(int level) {
    struct grid *g = &grids[level], *coarse = g + 1;
    if (level == levels - 1) {
        smooth(g, coarse_sweeps);
        return;
    }
    smooth(g, smooth_sweeps);
    compute_residual(g);
    memset(coarse->u, 0, sizeof(double) * cells(coarse));
    memset(coarse->f, 0, sizeof(double) * cells(coarse));
    for (int i = 0; i < g->side[0];
         ++i) // the mean of eight cells; a cell of twice the width counts four times
        for (int j = 0; j < g->side[1]; ++j)
            for (int k = 0; k < g->side[2]; ++k)
                coarse->f[cell(coarse, i / 2 + 1, j / 2 + 1, k / 2 + 1)] +=
                    g->r[cell(g, i + 1, j + 1, k + 1)] / 2;
    cycle(level + 1);
    for (int i = 0; i < g->side[0]; ++i)
        for (int j = 0; j < g->side[1]; ++j)
            for (int k = 0; k < g->side[2]; ++k)
                g->u[cell(g, i + 1, j + 1, k + 1)] +=
                    coarse->u[cell(coarse, i / 2 + 1, j / 2 + 1, k / 2 + 1)];
    smooth(g, smooth_sweeps);
}

static double residual_norm(void) {
    double sum = 0, all = 0;
    compute_residual(&grids[0]);
    for (size_t c = 0; c < cells(&grids[0]); ++c) sum += grids[0].r[c] * grids[0].r[c];
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sqrt(all);
}

// Charges of +1 and -1, as in NAS MG: their sum is 0.
static double solve(int cycles, double* seconds) {
    struct grid* g = &grids[0];
    memset(g->u, 0, sizeof(double) * cells(g));
    memset(g->f, 0, sizeof(double) * cells(g));
    for (int charge = 0; charge < 4; ++charge) {
        g->f[cell(g, 1 + charge % 2, 1 + charge / 2, 1)] = 1;
        g->f[cell(g, g->side[0] - charge % 2, g->side[1] - charge / 2, g->side[2])] = -1;
    }
    const double before = residual_norm();
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = host_time();
    for (int i = 0; i < cycles; ++i) cycle(0);
    *seconds = elapsed_over_ranks(begin, host_time()) / cycles;
    const double after = residual_norm();
    if (!(after < before * pow(0.6, cycles))) fail("the cycles do not converge");
    return after;
}

static void distribute(int ranks, int n) {
    MPI_Dims_create(ranks, 3, dims);
    int at[3] = {own_rank / (dims[1] * dims[2]), own_rank / dims[2] % dims[1], own_rank % dims[2]};
    for (int d = 0; d < 3; ++d) {
        const int here = at[d];
        if (n % (2 * dims[d]) != 0) fail("n= is not a multiple of twice the ranks of each dimension");
        grids[0].side[d] = n / dims[d];
        for (int up = 0; up < 2; ++up) {
            at[d] = (here + (up ? 1 : dims[d] - 1)) % dims[d];
            x.channel[2 * d + up] = (struct channel){.partner = (at[0] * dims[1] + at[1]) * dims[2] + at[2],
                                                     .remote = 2 * d + 1 - up};
        }
        at[d] = here;
    }
    for (levels = 1; levels < max_levels; ++levels) {
        const int* fine = grids[levels - 1].side;
        if ((fine[0] | fine[1] | fine[2]) % 2 != 0 || fine[0] < 4 || fine[1] < 4 || fine[2] < 4) break;
        for (int d = 0; d < 3; ++d) grids[levels].side[d] = fine[d] / 2;
    }
    size_t most = 0;
    for (int d = 0; d < 3; ++d) most = border_words(&grids[0], d) > most ? border_words(&grids[0], d) : most;
    for (int i = 0; i < 6; ++i) borders[i] = (double*)(void*)touched_memory(sizeof(double) * most);
    for (struct grid* g = grids; g < grids + levels; ++g) {
        const size_t bytes = sizeof(double) * cells(g);
        g->u = (double*)(void*)touched_memory(bytes);
        g->f = (double*)(void*)touched_memory(bytes);
        g->r = (double*)(void*)touched_memory(bytes);
    }
    open_exchanger(&x, most);
}

int main(int argc, char** argv) {
    struct bench bench = begin_bench(&argc, &argv);
    const int n = (int)number_option(argc, argv, "n", 32),
              cycles = (int)number_option(argc, argv, "cycles", 4);
    double took[2 * method_count][max_sweeps], first = 0;
    own_rank = bench.rank;
    distribute(bench.ranks, n);
    for (int i = 0; i < bench.sweeps; ++i)
        for (int w = 0; w < 2 * method_count; ++w) {
            const enum method method = (enum method)(w % method_count);
            together = w >= method_count;
            if (together && method == post_start) continue; // a window has one access epoch at a time
            begin_method(&x, method);
            const double residual = solve(cycles, &took[w][i]);
            end_method(&x);
            if (i + w == 0) first = residual;
            if (residual != first) fail("two methods differ in their residuals");
        }
    for (int w = 0; w < 2 * method_count && bench.rank == 0; ++w) {
        char name[32];
        snprintf(name, sizeof name, "mg_%s%s", method_names[w % method_count],
                 w < method_count ? "" : "_together");
        if (w != method_count + post_start)
            report(name, (size_t)n, 1e6 * median(took[w], bench.sweeps), "us");
    }
    MPI_Win_free(&x.win);
    for (int i = 0; i < 6; ++i) free(borders[i]);
    for (int i = 0; i < levels; ++i) free(grids[i].u), free(grids[i].f), free(grids[i].r);
    MPI_Finalize();
    return 0;
}
