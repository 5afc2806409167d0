// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One-sided operations of rank 0 on rank 1, of 8 bytes and of vectors, each with its completion, on windows
// of three kinds. Meanwhile rank 1 waits in a barrier, or (busy_) computes outside MPI. Also the baseline: a
// store with a fence, and two compare-and-swaps. Results: OPERATION_WINDOW, in microseconds. Options: busy=
// seconds that rank 1 computes at a time (0: leaves busy_ out).
#include "bench.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

enum { elements = 1 << 16, blocks = 128 };

static MPI_Win windows[3];
static const char* const window_names[] = {"allocate", "create", "dynamic"};
static MPI_Aint addresses[3]; // displacement of the first element in rank 1
static double* memory;
static MPI_Datatype vector;
static double busy;
static _Atomic int64_t word;

enum operation {
    lock_unlock,
    put_flush,
    get_flush,
    add_flush,
    fetch_add,
    swap,
    put_contiguous,
    put_vector,
    baseline_store,
    baseline_swaps
};
static const char* const operation_names[] = {
    "lock_unlock",      "put_flush", "get_flush",     "accumulate_flush",     "fetch_and_op",
    "compare_and_swap", "put_2k",    "put_vector_2k", "baseline_store_fence", "baseline_swap_pair"};
static enum operation operation;
static int current; // index of the window

static const int64_t one = 1, zero = 0;
static int64_t result;

static void run_once(MPI_Win win, MPI_Aint at) {
    int64_t expected = 0;
    switch (operation) {
    case lock_unlock:
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Win_unlock(1, win);
        return;
    case put_flush:
        MPI_Put(&one, 1, MPI_INT64_T, 1, at, 1, MPI_INT64_T, win);
        break;
    case get_flush:
        MPI_Get(&result, 1, MPI_INT64_T, 1, at, 1, MPI_INT64_T, win);
        break;
    case add_flush:
        MPI_Accumulate(&one, 1, MPI_INT64_T, 1, at, 1, MPI_INT64_T, MPI_SUM, win);
        break;
    case fetch_add:
        MPI_Fetch_and_op(&one, &result, MPI_INT64_T, 1, at, MPI_SUM, win);
        break;
    case swap:
        MPI_Compare_and_swap(&one, &zero, &result, MPI_INT64_T, 1, at, win);
        break;
    case put_contiguous:
        MPI_Put(memory, 2 * blocks, MPI_DOUBLE, 1, at, 2 * blocks, MPI_DOUBLE, win);
        break;
    case put_vector:
        MPI_Put(memory, 2 * blocks, MPI_DOUBLE, 1, at, 1, vector, win);
        break;
    case baseline_store:
        atomic_store(&word, one);
        return;
    case baseline_swaps:
        atomic_compare_exchange_strong(&word, &expected, 1);
        expected = 1;
        atomic_compare_exchange_strong(&word, &expected, 0);
        return;
    }
    MPI_Win_flush(1, win);
}

static double batch(const struct bench* bench, const struct point* point, long iterations, char stamp) {
    (void)point;
    (void)stamp;
    MPI_Win win = windows[current];
    const MPI_Aint at = addresses[current];
    MPI_Barrier(MPI_COMM_WORLD);
    double took = 0;
    if (bench->rank == 0) {
        if (busy > 0) compute(0.001); // the target has left MPI by then
        if (operation != lock_unlock) MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        const double begin = MPI_Wtime();
        for (long i = 0; i < iterations; ++i) run_once(win, at);
        took = MPI_Wtime() - begin;
        if (operation != lock_unlock) MPI_Win_unlock(1, win);
    } else if (bench->rank == 1 && busy > 0) {
        compute(busy);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return took;
}

static void make_windows(void) {
    double* allocated = NULL;
    memory = (double*)(void*)touched_memory(elements * sizeof *memory);
    MPI_Win_allocate(elements * 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &allocated, &windows[0]);
    MPI_Win_create(memory, elements * 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &windows[1]);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &windows[2]);
    MPI_Win_attach(windows[2], memory, elements * 8);
    MPI_Get_address(memory, &addresses[2]);
    MPI_Bcast(&addresses[2], 1, MPI_AINT, 1, MPI_COMM_WORLD);
    MPI_Type_vector(blocks, 2, 8, MPI_DOUBLE, &vector);
    MPI_Type_commit(&vector);
}

static void run(struct bench* bench, const char* prefix) {
    const int last = busy > 0 ? put_vector : baseline_swaps;
    for (int o = 0; o <= last; ++o)
        for (current = 0; current < (o >= baseline_store ? 1 : 3); ++current) {
            char name[64];
            operation = (enum operation)o;
            snprintf(name, sizeof name, "%s%s%s%s", prefix, operation_names[o],
                     o >= baseline_store ? "" : "_", o >= baseline_store ? "" : window_names[current]);
            bench->points = 0;
            const size_t size = o == put_contiguous || o == put_vector ? 16 * blocks : 8;
            add_point(bench, name, size);
            measure(bench, batch);
            if (bench->rank == 0) report(name, size, 1e6 * bench->point[0].per_iteration[0], "us");
        }
}

int main(int argc, char** argv) {
    struct bench bench = begin_bench(&argc, &argv);
    require_ranks(&bench, 2);
    make_windows();
    run(&bench, "");
    busy = number_option(argc, argv, "busy", 0.1);
    if (busy > 0) {
        bench.sweeps = 3;
        bench.max_iterations = 100;
        run(&bench, "busy_");
    }
    MPI_Win_detach(windows[2], memory);
    for (int w = 0; w < 3; ++w) MPI_Win_free(&windows[w]);
    MPI_Type_free(&vector);
    free(memory);
    MPI_Finalize();
    return 0;
}
