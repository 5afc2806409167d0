// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Matrix multiplication (SUMMA) of matrices in blocks on a grid of ranks. Each rank fetches panels of its row
// of blocks of A and of its column of blocks of B from their owners, and multiplies a panel while the next
// one arrives. A panel of A is strided in the memory of its owner. Results, seconds of a product by size n:
// summa_vector: a panel is one MPI_Get with a vector type; summa_rows: one MPI_Get for each row;
// summa_packed: the owner packs and sends it (MPI_Ibcast). Options: sizes= n of A (n x inner) and B
// (inner x n), inner= (0: n), chunk= columns of a panel. The product is compared with a sum by definition.
#include "bench.h"

#include <math.h>

enum method { vector, rows, packed, method_count };
static const char* const names[] = {"summa_vector", "summa_rows", "summa_packed"};

struct panel {
    int from, width;      // columns of A, rows of B
    int a_owner, b_owner; // ranks
    double *a, *b;        // local rows x width, width x local columns
    MPI_Request requests[2];
};

static int n, inner, chunk, down, across, row, column; // row, column: of this rank in the grid
static double *a, *b, *c;
static MPI_Win win_a, win_b;
static MPI_Comm in_row, in_column;

static int first_of(int part, int parts, int total) { return (int)((long)total * part / parts); }
static int size_of(int part, int parts, int total) {
    return first_of(part + 1, parts, total) - first_of(part, parts, total);
}
static int part_of(int index, int parts, int total) {
    int part = 0;
    while (first_of(part + 1, parts, total) <= index) ++part;
    return part;
}
static int own_rows(void) { return size_of(row, down, n); }
static int own_columns(void) { return size_of(column, across, n); }

static double element_a(int i, int k) { return 1.0 / (1 + (i * 3 + k) % 17); }
static double element_b(int k, int j) { return ((k * 5 + j * 7) % 13) - 6; }

static void fill(void) {
    const int a_columns = size_of(column, across, inner), b_rows = size_of(row, down, inner);
    for (int i = 0; i < own_rows(); ++i)
        for (int k = 0; k < a_columns; ++k)
            a[(size_t)i * (size_t)a_columns + (size_t)k] =
                element_a(first_of(row, down, n) + i, first_of(column, across, inner) + k);
    for (int k = 0; k < b_rows; ++k)
        for (int j = 0; j < own_columns(); ++j)
            b[(size_t)k * (size_t)own_columns() + (size_t)j] =
                element_b(first_of(row, down, inner) + k, first_of(column, across, n) + j);
    memset(c, 0, sizeof *c * (size_t)own_rows() * (size_t)own_columns());
}

// The owners of a panel are the same for all of its columns and rows.
static int start_panel(struct panel* p, int from) {
    p->from = from;
    p->a_owner = part_of(from, across, inner);
    p->b_owner = part_of(from, down, inner);
    p->width = chunk;
    const int a_end = first_of(p->a_owner + 1, across, inner), b_end = first_of(p->b_owner + 1, down, inner);
    if (from + p->width > a_end) p->width = a_end - from;
    if (from + p->width > b_end) p->width = b_end - from;
    return from + p->width;
}

static void get_panel(struct panel* p, enum method method) {
    const int stride = size_of(p->a_owner, across, inner);
    const MPI_Aint at = p->from - first_of(p->a_owner, across, inner);
    const int target = row * across + p->a_owner, words = p->width * own_columns();
    if (method == vector) {
        MPI_Datatype strided;
        MPI_Type_vector(own_rows(), p->width, stride, MPI_DOUBLE, &strided);
        MPI_Type_commit(&strided);
        MPI_Get(p->a, own_rows() * p->width, MPI_DOUBLE, target, at, 1, strided, win_a);
        MPI_Type_free(&strided);
    } else {
        for (int i = 0; i < own_rows(); ++i)
            MPI_Get(p->a + (size_t)i * (size_t)p->width, p->width, MPI_DOUBLE, target,
                    at + (MPI_Aint)i * stride, p->width, MPI_DOUBLE, win_a);
    }
    const MPI_Aint first = (MPI_Aint)(p->from - first_of(p->b_owner, down, inner)) * own_columns();
    MPI_Get(p->b, words, MPI_DOUBLE, p->b_owner * across + column, first, words, MPI_DOUBLE, win_b);
}

static void broadcast_panel(struct panel* p) {
    const size_t stride = (size_t)size_of(column, across, inner), width = (size_t)p->width;
    if (p->a_owner == column)
        for (size_t i = 0; i < (size_t)own_rows(); ++i)
            memcpy(p->a + i * width, a + i * stride + (size_t)(p->from - first_of(column, across, inner)),
                   width * sizeof *a);
    if (p->b_owner == row)
        memcpy(p->b, b + (size_t)(p->from - first_of(row, down, inner)) * (size_t)own_columns(),
               width * (size_t)own_columns() * sizeof *b);
    MPI_Ibcast(p->a, own_rows() * p->width, MPI_DOUBLE, p->a_owner, in_row, &p->requests[0]);
    MPI_Ibcast(p->b, p->width * own_columns(), MPI_DOUBLE, p->b_owner, in_column, &p->requests[1]);
}

static void request_panel(struct panel* p, enum method method) {
    if (method == packed)
        broadcast_panel(p);
    else
        get_panel(p, method);
}

static void await_panel(struct panel* p, enum method method) {
    if (method == packed) {
        MPI_Waitall(2, p->requests, MPI_STATUSES_IGNORE);
        return;
    }
    MPI_Win_flush(row * across + p->a_owner, win_a);
    MPI_Win_flush(p->b_owner * across + column, win_b);
}

static void multiply(const struct panel* p) {
    const size_t columns = (size_t)own_columns(), width = (size_t)p->width;
    for (size_t i = 0; i < (size_t)own_rows(); ++i)
        for (size_t k = 0; k < width; ++k) {
            const double factor = p->a[i * width + k];
            for (size_t j = 0; j < columns; ++j) c[i * columns + j] += factor * p->b[k * columns + j];
        }
}

static double product(struct panel panels[2], enum method method) {
    fill();
    MPI_Win_sync(win_a);
    MPI_Win_sync(win_b);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = host_time();
    int next = start_panel(&panels[0], 0);
    request_panel(&panels[0], method);
    for (int turn = 0, last = 0; !last; ++turn) {
        struct panel *const here = &panels[turn % 2], *const there = &panels[1 - turn % 2];
        await_panel(here, method); // before the next request: a flush would wait for that too
        last = next == inner;
        if (!last) {
            next = start_panel(there, next);
            request_panel(there, method);
        }
        multiply(here);
    }
    const double took = elapsed_over_ranks(begin, host_time());
    MPI_Barrier(MPI_COMM_WORLD);
    return took;
}

static void check_product(void) {
    for (int i = 0; i < own_rows(); i += 5)
        for (int j = 0; j < own_columns(); j += 7) {
            double sum = 0;
            for (int k = 0; k < inner; ++k)
                sum +=
                    element_a(first_of(row, down, n) + i, k) * element_b(k, first_of(column, across, n) + j);
            if (fabs(sum - c[(size_t)i * (size_t)own_columns() + (size_t)j]) > 1e-9 * inner)
                fail("the product is wrong");
        }
}

static double* window_of(int words_down, int words_across, MPI_Win* win) {
    double* memory = NULL;
    MPI_Win_allocate((MPI_Aint)((size_t)words_down * (size_t)words_across * sizeof *memory), sizeof *memory,
                     MPI_INFO_NULL, MPI_COMM_WORLD, &memory, win);
    MPI_Win_lock_all(0, *win);
    return memory;
}

static void run(const struct bench* bench) {
    struct panel panels[2];
    a = window_of(own_rows(), size_of(column, across, inner), &win_a);
    b = window_of(size_of(row, down, inner), own_columns(), &win_b);
    c = (double*)(void*)touched_memory(sizeof *c * (size_t)own_rows() * (size_t)own_columns());
    for (int i = 0; i < 2; ++i) {
        panels[i].a = (double*)(void*)touched_memory(sizeof *a * (size_t)own_rows() * (size_t)chunk);
        panels[i].b = (double*)(void*)touched_memory(sizeof *b * (size_t)own_columns() * (size_t)chunk);
    }
    double took[method_count][max_sweeps];
    for (int i = 0; i < bench->sweeps; ++i)
        for (int m = 0; m < method_count; ++m) {
            took[m][i] = product(panels, (enum method)m);
            check_product();
        }
    for (int m = 0; m < method_count && bench->rank == 0; ++m)
        report(names[m], (size_t)n, median(took[m], bench->sweeps), "s");
    for (int i = 0; i < 2; ++i) free(panels[i].a), free(panels[i].b);
    free(c);
    for (MPI_Win* win = &win_a; win != NULL; win = win == &win_a ? &win_b : NULL) {
        MPI_Win_unlock_all(*win);
        MPI_Win_free(win);
    }
}

int main(int argc, char** argv) {
    struct bench bench = begin_bench(&argc, &argv);
    size_t sizes[max_points];
    const int count = strcmp(text_option(argc, argv, "sizes", ""), "") == 0
                          ? 0
                          : message_sizes(argc, argv, sizes, max_points);
    for (int d = 1; d * d <= bench.ranks; ++d)
        if (bench.ranks % d == 0) down = d;
    across = bench.ranks / down;
    row = bench.rank / across;
    column = bench.rank % across;
    MPI_Comm_split(MPI_COMM_WORLD, row, column, &in_row);
    MPI_Comm_split(MPI_COMM_WORLD, column, row, &in_column);
    for (int i = 0; i < (count > 0 ? count : 1); ++i) {
        n = count > 0 ? (int)sizes[i] : 256;
        inner = (int)number_option(argc, argv, "inner", 0);
        if (inner < 1) inner = n;
        chunk = (int)number_option(argc, argv, "chunk", 128);
        if (n < across || inner < across || chunk < 1) fail("the matrix is too small");
        run(&bench);
    }
    MPI_Comm_free(&in_row);
    MPI_Comm_free(&in_column);
    MPI_Finalize();
    return 0;
}
