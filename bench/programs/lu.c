// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// LU factorization of a dense matrix, without pivoting, in square blocks distributed over a grid of ranks. A
// rank fetches the blocks it needs from the memory of their owners; owners compute meanwhile outside MPI.
// Results: lu, seconds of one factorization under shared locks on all ranks, with a flush for each block;
// lu_exclusive: with an exclusive lock for each block. Parts of these times, means over the ranks: lu_get,
// lu_flush, lu_barrier, lu_compute; lu_exclusive_lock, _get, _unlock, _barrier, _compute. Options: n= size of
// the matrix, block= size of a block; n must be a multiple of it. The factors are multiplied and compared
// with the matrix, unless check=0.
#include "bench.h"

#include <math.h>

static int n, block, across, down, blocks, own_rank;
static double* local_blocks; // blocks of this rank, contiguous
static double* panel;        // fetched: those of one column, then those of one row
static MPI_Win win;

enum part { locking, getting, ending, waiting, part_count }; // ending: a flush or an unlock
static const char* const shared_parts[] = {NULL, "lu_get", "lu_flush", "lu_barrier"};
static const char* const exclusive_parts[] = {"lu_exclusive_lock", "lu_exclusive_get", "lu_exclusive_unlock",
                                              "lu_exclusive_barrier"};
static double spent[part_count];
static int exclusive;

// Adds the time since `since` to a part; returns the current time.
static double add_time(enum part part, double since) {
    const double now = host_time();
    spent[part] += now - since;
    return now;
}

static int owner(int i, int j) { return i % down * across + j % across; }
static int block_index(int i, int j) { return i / down * ((blocks + across - 1) / across) + j / across; }
static size_t words(void) { return (size_t)block * (size_t)block; }
static double* local_block(int i, int j) { return local_blocks + words() * (size_t)block_index(i, j); }

static double element(int i, int j) {
    const double d = i - j;
    return i == j ? n : 1 / (1 + d * d);
}

static void fill(void) {
    for (int i = 0; i < blocks; ++i)
        for (int j = 0; j < blocks; ++j) {
            if (owner(i, j) != own_rank) continue;
            double* const b = local_block(i, j);
            for (int r = 0; r < block; ++r)
                for (int c = 0; c < block; ++c) b[r * block + c] = element(i * block + r, j * block + c);
        }
}

static void factor(double* a) {
    for (int k = 0; k < block; ++k)
        for (int i = k + 1; i < block; ++i) {
            a[i * block + k] /= a[k * block + k];
            for (int j = k + 1; j < block; ++j) a[i * block + j] -= a[i * block + k] * a[k * block + j];
        }
}

static void divide_by_upper(double* a, const double* d) { // a := a / U
    for (int r = 0; r < block; ++r)
        for (int k = 0; k < block; ++k) {
            a[r * block + k] /= d[k * block + k];
            for (int j = k + 1; j < block; ++j) a[r * block + j] -= a[r * block + k] * d[k * block + j];
        }
}

static void divide_by_lower(double* a, const double* d) { // a := L \ a
    for (int k = 0; k < block; ++k)
        for (int i = k + 1; i < block; ++i)
            for (int j = 0; j < block; ++j) a[i * block + j] -= d[i * block + k] * a[k * block + j];
}

static void subtract_product(double* a, const double* l, const double* u) {
    for (int i = 0; i < block; ++i)
        for (int k = 0; k < block; ++k) {
            const double factor_of_row = l[i * block + k];
            for (int j = 0; j < block; ++j) a[i * block + j] -= factor_of_row * u[k * block + j];
        }
}

// A block of any rank: the local one, or fetched to `to`.
static const double* fetch_block(int i, int j, double* to) {
    const int from = owner(i, j);
    if (from == own_rank) return local_block(i, j);
    const MPI_Aint at = (MPI_Aint)(words() * (size_t)block_index(i, j));
    double now = host_time();
    if (exclusive) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, from, 0, win);
        now = add_time(locking, now);
    }
    MPI_Get(to, (int)words(), MPI_DOUBLE, from, at, (int)words(), MPI_DOUBLE, win);
    now = add_time(getting, now);
    if (exclusive)
        MPI_Win_unlock(from, win);
    else
        MPI_Win_flush(from, win);
    add_time(ending, now);
    return to;
}

// Orders loads and stores of the local window; MPI_Win_sync needs an epoch.
static void sync_own(void) {
    if (exclusive) MPI_Win_lock(MPI_LOCK_SHARED, own_rank, 0, win);
    MPI_Win_sync(win);
    if (exclusive) MPI_Win_unlock(own_rank, win);
}

static void sync_windows(void) {
    const double begin = host_time();
    sync_own();
    MPI_Barrier(MPI_COMM_WORLD);
    sync_own();
    add_time(waiting, begin);
}

// Blocks of column k or of row k that belong to this rank.
static void do_perimeter(int k) {
    const double* diagonal = NULL;
    for (int side = 0; side < 2; ++side)
        for (int i = k + 1; i < blocks; ++i) {
            const int row = side == 0 ? i : k, column = side == 0 ? k : i;
            if (owner(row, column) != own_rank) continue;
            if (diagonal == NULL) diagonal = fetch_block(k, k, panel);
            if (side == 0)
                divide_by_upper(local_block(row, column), diagonal);
            else
                divide_by_lower(local_block(row, column), diagonal);
        }
}

static void do_interior(int k) {
    const double* column[blocks];
    const double* row[blocks];
    for (int i = k + 1; i < blocks; ++i) {
        column[i] = i % down == own_rank / across ? fetch_block(i, k, panel + words() * (size_t)i) : NULL;
        row[i] = i % across == own_rank % across ? fetch_block(k, i, panel + words() * (size_t)(blocks + i))
                                                 : NULL;
    }
    for (int i = k + 1; i < blocks; ++i)
        for (int j = k + 1; j < blocks; ++j)
            if (owner(i, j) == own_rank) subtract_product(local_block(i, j), column[i], row[j]);
}

static double factor_once(double* computing) {
    fill();
    sync_windows();
    for (int i = 0; i < part_count; ++i) spent[i] = 0;
    const double begin = host_time();
    for (int k = 0; k < blocks; ++k) {
        if (owner(k, k) == own_rank) factor(local_block(k, k));
        sync_windows();
        do_perimeter(k);
        sync_windows();
        do_interior(k);
        sync_windows();
    }
    const double end = host_time();
    *computing = end - begin;
    for (int i = 0; i < part_count; ++i) *computing -= spent[i];
    return elapsed_over_ranks(begin, end);
}

// On rank 0: checks that L times U is the matrix.
static void check_factors(void) {
    if (own_rank != 0) return;
    double* const whole = (double*)(void*)touched_memory(sizeof(double) * (size_t)n * (size_t)n);
    for (int i = 0; i < blocks; ++i)
        for (int j = 0; j < blocks; ++j) {
            const double* const b = fetch_block(i, j, panel);
            for (int r = 0; r < block; ++r)
                memcpy(whole + (size_t)(i * block + r) * (size_t)n + j * block, b + r * block,
                       sizeof(double) * (size_t)block);
        }
    for (int i = 0; i < n; i += 7)
        for (int j = 0; j < n; j += 5) {
            double sum = i <= j ? whole[(size_t)i * (size_t)n + (size_t)j] : 0;
            for (int k = 0; k < (i < j + 1 ? i : j + 1); ++k)
                sum += whole[(size_t)i * (size_t)n + (size_t)k] * whole[(size_t)k * (size_t)n + (size_t)j];
            if (fabs(sum - element(i, j)) > 1e-9 * n) fail("the factors are not those of the matrix");
        }
    free(whole);
}

static void distribute(int ranks) {
    for (int d = 1; d * d <= ranks; ++d)
        if (ranks % d == 0) down = d;
    across = ranks / down;
    const size_t rows = (size_t)((blocks + down - 1) / down),
                 columns = (size_t)((blocks + across - 1) / across);
    MPI_Win_allocate((MPI_Aint)(rows * columns * words() * sizeof *local_blocks), sizeof *local_blocks,
                     MPI_INFO_NULL, MPI_COMM_WORLD, &local_blocks, &win);
    panel = (double*)(void*)touched_memory(2 * (size_t)blocks * words() * sizeof *panel);
}

static void report_mean(int ranks, const char* name, double seconds) {
    double sum = 0;
    MPI_Reduce(&seconds, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (own_rank == 0) report(name, (size_t)n, sum / ranks, "s");
}

// Factors with one kind of locks; the parts are medians of each rank.
static void run(const struct bench* bench, int with_exclusive, int checks) {
    const char* const* names = with_exclusive ? exclusive_parts : shared_parts;
    double took[max_sweeps], computing[max_sweeps], parts[part_count][max_sweeps];
    exclusive = with_exclusive;
    if (!exclusive) MPI_Win_lock_all(0, win);
    for (int i = 0; i < bench->sweeps; ++i) {
        took[i] = factor_once(&computing[i]);
        for (int part = 0; part < part_count; ++part) parts[part][i] = spent[part];
    }
    sync_windows();
    if (checks) check_factors();
    if (own_rank == 0) report(exclusive ? "lu_exclusive" : "lu", (size_t)n, median(took, bench->sweeps), "s");
    for (int part = 0; part < part_count; ++part)
        if (names[part]) report_mean(bench->ranks, names[part], median(parts[part], bench->sweeps));
    report_mean(bench->ranks, exclusive ? "lu_exclusive_compute" : "lu_compute",
                median(computing, bench->sweeps));
    if (!exclusive) MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
    struct bench bench = begin_bench(&argc, &argv);
    n = (int)number_option(argc, argv, "n", 512);
    block = (int)number_option(argc, argv, "block", 32);
    if (block < 1 || n % block != 0) fail("n= is not a multiple of block=");
    blocks = n / block;
    own_rank = bench.rank;
    distribute(bench.ranks);
    for (int e = 0; e < 2; ++e) run(&bench, e, number_option(argc, argv, "check", 1) > 0);
    MPI_Win_free(&win);
    free(panel);
    MPI_Finalize();
    return 0;
}
