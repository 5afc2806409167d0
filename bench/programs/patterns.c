// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Communication patterns of six well-known kernels of parallel computing (CG, MG, FT, IS, LU, EP), with a few
// microseconds of arithmetic in between, in microseconds per iteration. Reductions and transposes are written
// as point-to-point messages, because the message queues are compared, which collective operations may
// bypass. Any number of ranks from 2 on; each message carries the number of its iteration. Option: only= one
// of the names.
#include "bench.h"
#include <stdbool.h>

enum {
    most_ranks = 512,
    buffer_bytes = 1 << 20,
    work_unit = 400 /* dependent multiplications: about 1 us */
};

static int rank, ranks, rows, columns, cube[3];
static char *out, *in;
static MPI_Request requests[2 * most_ranks];
static volatile double sink;

static void work(int units) {
    double x = sink + 1;
    for (int i = 0; i < units * work_unit; ++i) x = x * 0.999999 + 1e-9;
    sink = x;
}

static void stamp_message(char* message, int turn) { memcpy(message, &turn, sizeof turn); }

static void check_message(const char* message, int turn) {
    if (memcmp(message, &turn, sizeof turn)) fail("received a message of another iteration");
}

static void receive(int from, size_t bytes, int tag, int turn) {
    MPI_Recv(in, (int)bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check_message(in, turn);
}

static void exchange(int to, int from, size_t bytes, int tag, int turn) {
    MPI_Request request;
    MPI_Irecv(in, (int)bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, &request);
    MPI_Send(out, (int)bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_message(in, turn);
}

// A sum over the ranks first, first + stride, ...: at distances 1, 2, 4, ..., with wraparound.
static void sum_over(int first, int stride, int members, size_t bytes, int tag, int turn) {
    const int me = (rank - first) / stride;
    for (int distance = 1; distance < members; distance *= 2)
        exchange(first + stride * ((me + distance) % members),
                 first + stride * ((me - distance + members) % members), bytes, tag, turn);
}

// Conjugate gradient: vectors summed along the rows of a grid, the result sent to the transposed position,
// and two reductions of one number.
static void cg(int turn) {
    const size_t bytes = (size_t)(112000 / rows);
    const int row = rank / columns, column = rank % columns;
    work(8);
    sum_over(row * columns, 1, columns, bytes, 1, turn);
    exchange(column * rows + row, rank % rows * columns + rank / rows, bytes, 2, turn);
    work(2);
    sum_over(row * columns, 1, columns, 8, 3, turn);
    work(2);
    sum_over(row * columns, 1, columns, 8, 4, turn);
}

// One side of a cube of ranks to each of the two neighbors along an axis.
static void cube_sides(int axis, size_t bytes, int turn) {
    const int stride = axis == 0 ? 1 : axis == 1 ? cube[0] : cube[0] * cube[1];
    const int coord = rank / stride % cube[axis];
    const int up = rank + ((coord + 1) % cube[axis] - coord) * stride;
    const int down = rank + ((coord + cube[axis] - 1) % cube[axis] - coord) * stride;
    MPI_Request two[2];
    MPI_Irecv(in, (int)bytes, MPI_BYTE, down, 1, MPI_COMM_WORLD, &two[0]);
    MPI_Irecv(in + buffer_bytes / 2, (int)bytes, MPI_BYTE, up, 2, MPI_COMM_WORLD, &two[1]);
    MPI_Send(out, (int)bytes, MPI_BYTE, up, 1, MPI_COMM_WORLD);
    MPI_Send(out, (int)bytes, MPI_BYTE, down, 2, MPI_COMM_WORLD);
    MPI_Waitall(2, two, MPI_STATUSES_IGNORE);
    check_message(in, turn);
    check_message(in + buffer_bytes / 2, turn);
}

// Multigrid: cube sides to the six neighbors, on finer and coarser grids: down to 32 bytes and up again.
static void mg(int turn) {
    for (int step = -5; step <= 5; ++step) {
        work(abs(step));
        for (int axis = 0; axis < 3; ++axis)
            if (cube[axis] > 1) cube_sides(axis, (size_t)32 << 2 * abs(step), turn);
    }
}

// A block to each rank; `uneven`: of different lengths.
static void transpose(size_t block, bool uneven, int tag, int turn) {
    int count = 0;
    for (int i = 1; i < ranks; ++i) {
        const int from = (rank - i + ranks) % ranks;
        const size_t bytes = uneven ? block * (size_t)(1 + (rank + from) % 3) / 3 + 4 : block;
        MPI_Irecv(in + (size_t)i * 2 * block, (int)bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD,
                  &requests[count++]);
    }
    for (int i = 1; i < ranks; ++i) {
        const int to = (rank + i) % ranks;
        const size_t bytes = uneven ? block * (size_t)(1 + (rank + to) % 3) / 3 + 4 : block;
        MPI_Isend(out, (int)bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &requests[count++]);
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    for (int i = 1; i < ranks; ++i) check_message(in + (size_t)i * 2 * block, turn);
}

// Fourier transform: the transpose of a distributed matrix.
static void ft(int turn) {
    work(20);
    transpose((size_t)(buffer_bytes / 4 / ranks), false, 1, turn);
}

// Integer sort: sizes of buckets reduced over all ranks, counts to all, keys to all.
static void is(int turn) {
    work(8);
    sum_over(0, 1, ranks, 4096, 1, turn);
    transpose(4, false, 2, turn);
    transpose((size_t)(buffer_bytes / 8 / ranks), true, 3, turn);
}

// A wave front passes over a grid of ranks, plane after plane: from two neighbors, to two others.
static void wave(int direction, int turn) {
    enum { planes = 12, bytes = 640 };
    const int row = rank / columns, column = rank % columns;
    const int above = row - direction, below = row + direction;
    const int before = column - direction, after = column + direction;
    for (int plane = 0; plane < planes; ++plane) {
        if (above >= 0 && above < rows) receive(above * columns + column, bytes, 1, turn);
        if (before >= 0 && before < columns) receive(row * columns + before, bytes, 2, turn);
        work(2);
        if (below >= 0 && below < rows)
            MPI_Send(out, bytes, MPI_BYTE, below * columns + column, 1, MPI_COMM_WORLD);
        if (after >= 0 && after < columns)
            MPI_Send(out, bytes, MPI_BYTE, row * columns + after, 2, MPI_COMM_WORLD);
    }
}

// Lower and upper triangle: a wave forward and one back, then cube sides to the neighbors, received from any
// source.
static void lu(int turn) {
    enum { bytes = 10240 };
    const int row = rank / columns, column = rank % columns;
    const int to[4] = {row > 0 ? rank - columns : MPI_PROC_NULL,
                       row + 1 < rows ? rank + columns : MPI_PROC_NULL, column > 0 ? rank - 1 : MPI_PROC_NULL,
                       column + 1 < columns ? rank + 1 : MPI_PROC_NULL};
    wave(1, turn);
    wave(-1, turn);
    MPI_Request four[4];
    int count = 0;
    for (int side = 0; side < 4; ++side) // data sent up arrives from below
        if (to[side] != MPI_PROC_NULL)
            MPI_Irecv(in + side * bytes, bytes, MPI_BYTE, MPI_ANY_SOURCE, 10 + (side ^ 1), MPI_COMM_WORLD,
                      &four[count++]);
    for (int side = 0; side < 4; ++side) MPI_Send(out, bytes, MPI_BYTE, to[side], 10 + side, MPI_COMM_WORLD);
    MPI_Waitall(count, four, MPI_STATUSES_IGNORE);
    for (int side = 0; side < 4; ++side)
        if (to[side] != MPI_PROC_NULL) check_message(in + side * bytes, turn);
}

// Reduction to rank 0 and broadcast over a binomial tree.
static void sum_to_all(size_t bytes, int tag, int turn) {
    int bit = 1;
    for (; bit < ranks && !(rank & bit); bit *= 2)
        if (rank + bit < ranks) receive(rank + bit, bytes, tag, turn);
    if (rank) {
        MPI_Send(out, (int)bytes, MPI_BYTE, rank - bit, tag, MPI_COMM_WORLD);
        receive(rank - bit, bytes, tag, turn);
    }
    for (bit /= 2; bit; bit /= 2)
        if (rank + bit < ranks) MPI_Send(out, (int)bytes, MPI_BYTE, rank + bit, tag, MPI_COMM_WORLD);
}

// Embarrassingly parallel: much arithmetic, three reductions.
static void ep(int turn) {
    work(100);
    sum_to_all(8, 1, turn);
    sum_to_all(8, 2, turn);
    sum_to_all(80, 3, turn);
}

static const struct {
    const char* name;
    void (*iterate)(int turn);
} patterns[] = {{"pattern_cg", cg}, {"pattern_mg", mg}, {"pattern_ft", ft},
                {"pattern_is", is}, {"pattern_lu", lu}, {"pattern_ep", ep}};
enum { pattern_count = sizeof patterns / sizeof *patterns };

static double batch(const struct bench* bench, const struct point* point, long iterations, char stamp) {
    static int turn = 0;
    (void)bench, (void)stamp;
    int which = 0;
    while (strcmp(patterns[which].name, point->name)) ++which;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = host_time();
    for (long i = 0; i < iterations; ++i) {
        stamp_message(out, ++turn);
        patterns[which].iterate(turn);
    }
    return elapsed_over_ranks(begin, host_time());
}

// The largest divisor of n that is at most its root of the given order.
static int divisor_near_root(int n, int order) {
    int best = 1;
    for (int d = 1; d <= n; ++d) {
        const long power = order == 2 ? (long)d * d : (long)d * d * d;
        if (power <= n && n % d == 0) best = d;
    }
    return best;
}

int main(int argc, char** argv) {
    struct bench bench = begin_bench(&argc, &argv);
    require_ranks(&bench, 2);
    rank = bench.rank, ranks = bench.ranks;
    if (ranks > most_ranks) fail("too many ranks for this benchmark");
    rows = divisor_near_root(ranks, 2), columns = ranks / rows;
    cube[0] = divisor_near_root(ranks, 3);
    cube[1] = divisor_near_root(ranks / cube[0], 2);
    cube[2] = ranks / cube[0] / cube[1];
    out = touched_memory(buffer_bytes);
    in = touched_memory(buffer_bytes);
    const char* only = text_option(argc, argv, "only", "");
    for (int i = 0; i < pattern_count; ++i)
        if (!*only || !strcmp(only, patterns[i].name)) add_point(&bench, patterns[i].name, 0);
    measure(&bench, batch);
    for (int i = 0; i < bench.points && rank == 0; ++i)
        report(bench.point[i].name, bench.point[i].size, bench.point[i].per_iteration[0] * 1e6, "us");
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
